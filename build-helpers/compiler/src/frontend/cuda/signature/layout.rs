//! Structs, with the layout that the device has them in.

use super::{
    debug::{Node, NodeId},
    types::{Types, UnsupportedType, refuse},
    written,
};
use gimli::constants as dw;
use kernelmill_artifact::{Field, StructLayout, ValueType};

/// The largest alignment that is guessed.
const LARGEST_ALIGN: u64 = 256;

pub(super) const PLAIN: &str = "use a struct of plain values, or pass the values one by one";
/// Why a class is refused that is not copied as its bytes are; not every compiler says which of the two it has.
pub(super) const CLASS: &str = "has a copy constructor or a destructor";
const RAW: &str = "use an integer, and extract the bits in the kernel";

impl Types<'_> {
    /// The layout of a struct, as `#[repr(C)]` gives it too.
    pub(super) fn structure(
        &self,
        id: NodeId,
        typedefs: &[&str],
        hint: &str,
    ) -> Result<StructLayout, UnsupportedType> {
        let node = self.debug.node(id);
        let written = node.name.as_deref().and_then(written::written);
        let Some(size) = node.size.filter(|size| *size > 0 && !node.is_declaration) else {
            return refuse(
                "has no layout in the debug information: it is only declared, or not used",
                "define it in this file, or take a pointer to void",
            );
        };
        let written = written.or_else(|| typedefs.last().map(|name| (*name).to_owned()));
        let written = written.unwrap_or_else(|| hint.to_owned());
        let name = written::type_identifier(&written);
        check_class(self, id, &written)?;
        let mut fields = Vec::new();
        members(self, id, &name, 0, &mut fields)?;
        check_names(&fields)?;
        let declared = node.align.or_else(|| vector_align(&written)).unwrap_or(1);
        let natural = fields.iter().map(|(field, _)| field.ty.align()).max().unwrap_or(1);
        let align = natural.max(declared).max(self.least_align(id));
        let end = check_offsets(self, &fields)?;
        let align = fit(end, size, align)?;
        let fields = fields.into_iter().map(|(field, _)| field);
        Ok(StructLayout { name: name.into(), size, align, fields: fields.collect() })
    }

    /// Refuses a parameter by value of a class that is not copied as its bytes are: kernels are given those. In memory that
    /// a kernel points to, such a class is what its fields are.
    pub(super) fn check_copied(&self, id: NodeId) -> Result<(), UnsupportedType> {
        let node = self.debug.node(id);
        let written = node.name.as_deref().and_then(written::written);
        if node.is_passed_by_reference && !written.is_some_and(|it| is_of_cuda(&it)) {
            return refuse(CLASS, PLAIN);
        }
        Ok(())
    }
}

/// Whether a class is one of CUDA's headers: those have constructors, and are plain data.
pub(super) fn is_of_cuda(name: &str) -> bool {
    name.starts_with("__nv_")
        || matches!(
            name,
            "dim3" | "__half2" | "half2" | "nv_bfloat162" | "__half_raw" | "__half2_raw"
        )
        || vector_align(name).is_some()
}

/// Refuses classes that are more than their data: what is copied as its bytes may have other constructors, which Rust
/// does not call.
fn check_class(types: &Types<'_>, id: NodeId, written: &str) -> Result<(), UnsupportedType> {
    if is_of_cuda(written) {
        return Ok(());
    }
    let mut methods = types.debug.children(id).filter(|child| child.tag == dw::DW_TAG_subprogram);
    if methods.any(|method| method.is_virtual) {
        return refuse("has virtual functions", PLAIN);
    }
    let mut bases = types.debug.children(id).filter(|child| child.tag == dw::DW_TAG_inheritance);
    if bases.any(|base| base.is_virtual) {
        return refuse("has virtual base classes", PLAIN);
    }
    Ok(())
}

/// Refuses structs in which one field hides another, which it inherits.
fn check_names(fields: &[(Field, Option<NodeId>)]) -> Result<(), UnsupportedType> {
    for (index, (field, _)) in fields.iter().enumerate() {
        if fields[..index].iter().any(|(other, _)| other.name == field.name) {
            return refuse(
                format!("has several fields `{}`, some inherited", field.name),
                "rename one",
            );
        }
    }
    Ok(())
}

/// Collects the fields with the types they are written with; those of a base class, and of a struct without a name in
/// a member without a name, are those of the outer one.
fn members(
    types: &Types<'_>,
    id: NodeId,
    outer: &str,
    start: u64,
    fields: &mut Vec<(Field, Option<NodeId>)>,
) -> Result<(), UnsupportedType> {
    for member in types.debug.children(id) {
        match member.tag {
            dw::DW_TAG_inheritance if has_data(types, member.ty) => {
                let Some(base) = types.peel(member.ty).id else {
                    let base = types.spell(member.ty);
                    return refuse(format!("inherits the data of `{base}`"), "make it a field");
                };
                members(types, base, outer, start + member.offset.unwrap_or(0), fields)?;
            }
            dw::DW_TAG_member if !member.is_external && !member.is_declaration => {
                self::member(types, member, outer, start, fields)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn member(
    types: &Types<'_>,
    member: &Node,
    outer: &str,
    start: u64,
    fields: &mut Vec<(Field, Option<NodeId>)>,
) -> Result<(), UnsupportedType> {
    let name = member.name.as_deref().unwrap_or_default();
    if name.starts_with("__vptr") || name.starts_with("_vptr") {
        return refuse("has virtual functions", PLAIN);
    }
    if member.is_bit_field {
        return refuse(format!("has the bit field `{name}`"), RAW);
    }
    let offset = start + member.offset.unwrap_or(0);
    let peeled = types.peel(member.ty);
    let is_struct = peeled.id.is_some_and(|id| {
        [dw::DW_TAG_structure_type, dw::DW_TAG_class_type].contains(&types.debug.node(id).tag)
    });
    if name.is_empty() && is_struct {
        let id = peeled.id.expect("a struct has an entry");
        return members(types, id, outer, offset, fields);
    }
    let hint = format!("{outer}_{name}");
    let ty = types.value(member.ty, &hint).map_err(|refusal| {
        let subject = if name.is_empty() {
            "a member without a name".to_owned()
        } else {
            format!("`{name}`")
        };
        UnsupportedType { reason: format!("has {subject}, which {}", refusal.reason), ..refusal }
    })?;
    // Wrappers of C++ are unsafe functions: whoever calls one answers for what the class asks for.
    let field = Field { name: name.to_owned().into(), ty, offset, public: true };
    fields.push((field, peeled.id));
    Ok(())
}

fn has_data(types: &Types<'_>, base: Option<NodeId>) -> bool {
    types.peel(base).id.is_none_or(|id| {
        types.debug.children(id).any(|child| match child.tag {
            dw::DW_TAG_member => !child.is_external && !child.is_declaration,
            dw::DW_TAG_inheritance => has_data(types, child.ty),
            _ => false,
        })
    })
}

/// Checks that `#[repr(C)]` puts every field where it is; the end of the last one.
fn check_offsets(
    types: &Types<'_>,
    fields: &[(Field, Option<NodeId>)],
) -> Result<u64, UnsupportedType> {
    let mut end = 0_u64;
    for (Field { name, ty, offset, .. }, node) in fields {
        let expected = end.next_multiple_of(ty.align());
        if *offset < expected {
            return refuse(
                format!("is packed: its field `{name}` is at byte {offset}"),
                "remove the packing, or pass an array of bytes",
            );
        }
        if *offset > expected {
            // A struct as a field can have a larger alignment than its own fields ask for.
            let align = larger_aligns(ty.align()).find(|align| {
                end.next_multiple_of(*align) == *offset && ty.size().is_multiple_of(*align)
            });
            if let (ValueType::Struct(_), Some(node), Some(align)) = (ty, node, align) {
                types.learn(*node, align);
            }
            return refuse(
                format!(
                    "has the field `{name}` at byte {offset} in place of byte {expected}, because the field has \
                     an alignment of its own"
                ),
                "align the whole struct in place of the field, or add a field for the padding",
            );
        }
        end = offset + ty.size();
    }
    Ok(end)
}

/// The alignment at which a struct of these fields has its size.
fn fit(end: u64, size: u64, least: u64) -> Result<u64, UnsupportedType> {
    if end == 0 && size == 1 {
        // An empty struct has a byte in C++.
        return Ok(1);
    }
    let found = std::iter::once(least)
        .chain(larger_aligns(least))
        .find(|align| end.next_multiple_of(*align) == size);
    found.map_or_else(
        || {
            refuse(
                format!("has {size} bytes, which its fields do not fill"),
                "add a field for the padding at its end",
            )
        },
        Ok,
    )
}

fn larger_aligns(align: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(align * 2), |align| Some(align * 2))
        .take_while(|align| *align <= LARGEST_ALIGN)
}

/// The alignment of CUDA's vector types, which one compiler does not say.
fn vector_align(name: &str) -> Option<u64> {
    Some(match name {
        "char2" | "uchar2" => 2,
        "char4" | "uchar4" | "short2" | "ushort2" | "__half2" | "__nv_bfloat162" => 4,
        "short4" | "ushort4" | "int2" | "uint2" | "float2" => 8,
        "int4" | "uint4" | "float4" | "long2" | "ulong2" | "longlong2" | "ulonglong2"
        | "double2" | "long4" | "ulong4" | "longlong4" | "ulonglong4" | "double4" | "long4_16a"
        | "ulong4_16a" | "longlong4_16a" | "ulonglong4_16a" | "double4_16a" => 16,
        "long4_32a" | "ulong4_32a" | "longlong4_32a" | "ulonglong4_32a" | "double4_32a" => 32,
        _ => return None,
    })
}
