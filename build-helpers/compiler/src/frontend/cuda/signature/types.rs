//! Types of C++ as types that cross from host to device.

use super::{
    debug::{Debug, Node, NodeId},
    ptx::Slot,
    written,
};
use gimli::constants as dw;
use kernelmill_artifact::{
    Access, FunctionType, ParameterKind, Safety, Scalar, StructLayout, ValueType,
};
use std::{cell::RefCell, collections::BTreeMap};

/// Why a type cannot cross, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnsupportedType {
    /// Follows the type: `is a reference`.
    pub(super) reason: String,
    pub(super) help: &'static str,
}

pub(super) fn refuse<T>(
    reason: impl Into<String>,
    help: &'static str,
) -> Result<T, UnsupportedType> {
    Err(UnsupportedType { reason: reason.into(), help })
}

/// Reads types. Alignments that only show where a struct is used, which one compiler does not say
/// anywhere else, are kept for all other uses of it: read again until [`Types::learnt`] says no.
pub(super) struct Types<'a> {
    pub(super) debug: &'a Debug,
    aligns: RefCell<BTreeMap<NodeId, u64>>,
    has_learnt: RefCell<bool>,
}

/// A type without its qualifiers and other names.
pub(super) struct Peeled<'a> {
    /// `None` is `void`.
    pub(super) id: Option<NodeId>,
    pub(super) is_const: bool,
    /// The other names, the outermost first.
    pub(super) typedefs: Vec<&'a str>,
}

const POINT_TO_VALUES: &str = "point to a scalar or a struct";

impl<'a> Types<'a> {
    pub(super) fn new(debug: &'a Debug) -> Self {
        Self { debug, aligns: RefCell::default(), has_learnt: RefCell::default() }
    }

    /// Whether an alignment was found since the last call.
    pub(super) fn learnt(&self) -> bool {
        self.has_learnt.replace(false)
    }

    /// The least alignment of a struct that is known from where it is used.
    pub(super) fn least_align(&self, id: NodeId) -> u64 {
        self.aligns.borrow().get(&id).copied().unwrap_or(1)
    }

    /// Notes that a struct is used where it has to have an alignment.
    pub(super) fn learn(&self, id: NodeId, align: u64) {
        if align > self.least_align(id) {
            self.aligns.borrow_mut().insert(id, align);
            self.has_learnt.replace(true);
        }
    }

    pub(super) fn peel(&self, ty: Option<NodeId>) -> Peeled<'a> {
        let mut peeled = Peeled { id: ty, is_const: false, typedefs: Vec::new() };
        while let Some(id) = peeled.id {
            let node = self.debug.node(id);
            match node.tag {
                dw::DW_TAG_const_type => peeled.is_const = true,
                dw::DW_TAG_volatile_type | dw::DW_TAG_restrict_type | dw::DW_TAG_atomic_type => {}
                dw::DW_TAG_typedef | dw::DW_TAG_template_alias => {
                    peeled.typedefs.extend(node.name.as_deref());
                }
                dw::DW_TAG_unspecified_type if node.name.as_deref() == Some("void") => {
                    peeled.id = None;
                    break;
                }
                // Elements that are constant make an array constant.
                dw::DW_TAG_array_type => {
                    peeled.is_const |= self.peel(node.ty).is_const;
                    break;
                }
                _ => break,
            }
            peeled.id = node.ty;
        }
        peeled
    }

    /// What crosses for a parameter of this type that takes the bytes of `slot`; `hint` names a
    /// struct without a name.
    pub(super) fn parameter(
        &self,
        ty: Option<NodeId>,
        slot: Option<Slot>,
        hint: &str,
    ) -> Result<ParameterKind, UnsupportedType> {
        let peeled = self.peel(ty);
        let pointee = peeled.id.map(|id| self.debug.node(id)).filter(|node| is_pointer(node));
        if let Some(pointer) = pointee {
            return self.pointer(pointer.ty, hint);
        }
        if let (Some(id), Some(slot)) = (peeled.id, slot) {
            self.learn(id, slot.align);
        }
        let value = self.value(ty, hint)?;
        peeled.id.map_or(Ok(()), |id| self.check_copied(id))?;
        let (size, align) = (value.size(), value.align());
        match slot {
            Some(slot) if slot.size != size || slot.align < align => refuse(
                format!(
                    "takes {} bytes aligned to {} in the compiled code, and {size} bytes aligned to {align} in \
                     the debug information",
                    slot.size, slot.align
                ),
                "pass plain values in its place",
            ),
            _ => Ok(ParameterKind::Value(value)),
        }
    }

    /// What crosses for a pointer: memory of elements. Elements of `void` are bytes, elements that
    /// are pointers are device addresses.
    fn pointer(
        &self,
        pointee: Option<NodeId>,
        hint: &str,
    ) -> Result<ParameterKind, UnsupportedType> {
        let peeled = self.peel(pointee);
        let access = if peeled.is_const { Access::Read } else { Access::Write };
        let element = match peeled.id {
            None => ValueType::Scalar(Scalar::U8),
            Some(id) if is_opaque(self.debug.node(id)) => {
                return refuse(
                    "is an image, a sampler or another object of OpenCL C",
                    "pass a buffer",
                );
            }
            Some(id) if self.debug.node(id).tag == dw::DW_TAG_subroutine_type => {
                return refuse("points to a function", POINT_TO_VALUES);
            }
            Some(_) => self.value(pointee, hint)?,
        };
        Ok(ParameterKind::Pointer { element, access })
    }

    /// The type of a value.
    pub(super) fn value(
        &self,
        ty: Option<NodeId>,
        hint: &str,
    ) -> Result<ValueType, UnsupportedType> {
        let peeled = self.peel(ty);
        let Some(id) = peeled.id else {
            return refuse("has no values", "use a scalar, an array or a struct");
        };
        let node = self.debug.node(id);
        match node.tag {
            dw::DW_TAG_base_type => scalar(node, &peeled.typedefs).map(ValueType::Scalar),
            dw::DW_TAG_pointer_type => Ok(ValueType::Scalar(Scalar::U64)),
            dw::DW_TAG_array_type => self.array(id, hint),
            dw::DW_TAG_enumeration_type => {
                let layout = self.enumeration(id, &peeled.typedefs, hint)?;
                Ok(ValueType::Enum(layout.into()))
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type => {
                if let Some(scalar) = half(node) {
                    return Ok(ValueType::Scalar(scalar));
                }
                if let Some(ty) = self.device_function(id)? {
                    return Ok(ValueType::Function(ty.into()));
                }
                let layout: StructLayout = self.structure(id, &peeled.typedefs, hint)?;
                Ok(ValueType::Struct(layout.into()))
            }
            dw::DW_TAG_union_type => refuse("is a union", "use a struct, or an array of bytes"),
            dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                refuse("is a reference", "take a pointer, or the value itself")
            }
            dw::DW_TAG_ptr_to_member_type => refuse("points to a member", "pass an offset"),
            dw::DW_TAG_unspecified_type => {
                refuse("has no values", "use a scalar, an array or a struct")
            }
            tag => refuse(
                format!("is of a kind ({tag}) that kernelmill does not support"),
                "use a scalar, an array or a struct",
            ),
        }
    }

    /// The type of the functions that a `kernelmill::DeviceFn` names; `None` for other classes.
    fn device_function(&self, id: NodeId) -> Result<Option<FunctionType>, UnsupportedType> {
        let name = self.debug.node(id).name.as_deref().unwrap_or_default();
        let is_ours = |child: &Node| child.name.as_deref() == Some("__km_id");
        if !name.starts_with("DeviceFn<") || !self.debug.children(id).any(is_ours) {
            return Ok(None);
        }
        let mut arguments = self.debug.children(id);
        let argument = arguments.find(|it| it.tag == dw::DW_TAG_template_type_parameter);
        let Some(function) = argument.and_then(|argument| self.peel(argument.ty).id) else {
            return refuse(
                "does not say in the debug information which functions it names",
                "write `cuda-compiler = \"clang\"`",
            );
        };
        self.function(self.debug.node(function)).map(Some)
    }

    /// The type of a function that the host can give, or a type of such.
    pub(super) fn function(&self, node: &Node) -> Result<FunctionType, UnsupportedType> {
        let children = node.children.iter().map(|id| self.debug.node(*id));
        let parameters = children.filter(|it| it.tag == dw::DW_TAG_formal_parameter);
        let parameters = parameters.map(|it| self.passed(self.debug.said(it, |it| it.ty)));
        let parameters: Vec<_> = parameters.collect::<Result<_, _>>()?;
        let result = self.debug.said(node, |node| node.ty);
        let result = self.peel(result).id.map(|_| self.passed(result)).transpose()?;
        // Nothing in C++ says what a function asks of its callers.
        Ok(FunctionType { safety: Safety::Unsafe, parameters: parameters.into(), result })
    }

    /// What such a function takes or returns: what C++ and Rust pass in the same way.
    fn passed(&self, ty: Option<NodeId>) -> Result<ValueType, UnsupportedType> {
        let is_scalar = |id: NodeId| self.debug.node(id).tag == dw::DW_TAG_base_type;
        if self.peel(ty).id.is_some_and(is_scalar) {
            return self.value(ty, "value");
        }
        let spelled = self.spell(ty);
        let reason = format!("takes or returns `{spelled}`, which C++ and Rust do not pass alike");
        refuse(reason, "use `bool`, an integer, `float` or `double`")
    }

    fn array(&self, id: NodeId, hint: &str) -> Result<ValueType, UnsupportedType> {
        let node = self.debug.node(id);
        let mut value = self.value(node.ty, hint)?;
        let sizes = self.debug.children(id).filter(|it| it.tag == dw::DW_TAG_subrange_type);
        let sizes: Vec<Option<u64>> = sizes.map(|size| size.count).collect();
        for size in sizes.iter().rev() {
            let Some(length) = size.filter(|length| *length > 0) else {
                return refuse("has an array of unknown length", "give the array a length");
            };
            // A vector of three in OpenCL C has the size of one of four.
            let is_padded = node.size == Some(value.size() * (length + 1)) && length == 3;
            value = ValueType::Array(value.into(), length + u64::from(is_padded));
        }
        if sizes.is_empty() {
            return refuse("has an array of unknown length", "give the array a length");
        }
        Ok(value)
    }

    /// A type as C++ writes it, more or less.
    pub(super) fn spell(&self, ty: Option<NodeId>) -> String {
        let Some(id) = ty else { return "void".to_owned() };
        let node = self.debug.node(id);
        let inner = || self.spell(node.ty);
        let with = |symbol: &str| {
            let inner = inner();
            let space = if inner.ends_with(['*', '&']) { "" } else { " " };
            format!("{inner}{space}{symbol}")
        };
        match node.tag {
            dw::DW_TAG_const_type => {
                let inner = inner();
                if inner.ends_with('*') {
                    format!("{inner} const")
                } else {
                    format!("const {inner}")
                }
            }
            dw::DW_TAG_volatile_type => format!("volatile {}", inner()),
            dw::DW_TAG_restrict_type | dw::DW_TAG_atomic_type => inner(),
            dw::DW_TAG_pointer_type => with("*"),
            dw::DW_TAG_reference_type => with("&"),
            dw::DW_TAG_rvalue_reference_type => with("&&"),
            dw::DW_TAG_ptr_to_member_type => with("::*"),
            dw::DW_TAG_subroutine_type => format!("{} (...)", inner()),
            dw::DW_TAG_array_type => {
                let sizes = self.debug.children(id).filter(|it| it.tag == dw::DW_TAG_subrange_type);
                let sizes = sizes
                    .map(|size| size.count.map_or("[]".to_owned(), |length| format!("[{length}]")));
                format!("{} {}", inner(), sizes.collect::<String>())
            }
            _ => {
                let name = node.name.as_deref().and_then(written::written);
                name.unwrap_or_else(|| "(a type without a name)".to_owned())
            }
        }
    }
}

/// The objects of OpenCL C that are no memory: `image2d_t`, `sampler_t`.
fn is_opaque(node: &Node) -> bool {
    node.name.as_deref().is_some_and(|name| name.starts_with("opencl_"))
}

fn is_pointer(node: &Node) -> bool {
    node.tag == dw::DW_TAG_pointer_type
}

/// The half-precision numbers, which are structs in CUDA's headers.
fn half(node: &Node) -> Option<Scalar> {
    match (node.name.as_deref()?, node.size) {
        ("__half", Some(2)) => Some(Scalar::F16),
        ("__nv_bfloat16" | "hip_bfloat16" | "__hip_bfloat16", Some(2)) => Some(Scalar::Bf16),
        _ => None,
    }
}

/// A type of the language itself.
fn scalar(node: &Node, typedefs: &[&str]) -> Result<Scalar, UnsupportedType> {
    let size = node.size.unwrap_or(0);
    let has_name = |names: [&str; 2]| typedefs.iter().any(|name| names.contains(name));
    let found = match (node.encoding, size) {
        (Some(dw::DW_ATE_boolean), 1) => Some(Scalar::Bool),
        (Some(dw::DW_ATE_float), 2) if node.name.as_deref() == Some("__bf16") => Some(Scalar::Bf16),
        (Some(dw::DW_ATE_float), 2) => Some(Scalar::F16),
        (Some(dw::DW_ATE_float), 4) => Some(Scalar::F32),
        (Some(dw::DW_ATE_float), 8) => Some(Scalar::F64),
        (Some(dw::DW_ATE_signed), 8) if has_name(["ptrdiff_t", "intptr_t"]) => Some(Scalar::Isize),
        (Some(dw::DW_ATE_unsigned), 8) if has_name(["size_t", "uintptr_t"]) => Some(Scalar::Usize),
        (Some(dw::DW_ATE_signed | dw::DW_ATE_signed_char), size) => signed(size),
        (Some(dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_UTF), size) => {
            unsigned(size)
        }
        _ => None,
    };
    let help = "use `bool`, an integer of 8 to 128 bits, `float` or `double`";
    found.map_or_else(|| refuse("is a number that Rust does not have", help), Ok)
}

/// The signed integer of this many bytes.
pub(super) fn signed(size: u64) -> Option<Scalar> {
    let all = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::I128];
    all.into_iter().find(|scalar| scalar.size() == size)
}

/// The unsigned integer of this many bytes.
pub(super) fn unsigned(size: u64) -> Option<Scalar> {
    let all = [Scalar::U8, Scalar::U16, Scalar::U32, Scalar::U64, Scalar::U128];
    all.into_iter().find(|scalar| scalar.size() == size)
}
