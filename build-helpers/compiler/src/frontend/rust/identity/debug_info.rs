//! Debug information in LLVM's textual form: numbered nodes, `!7 = !DIBasicType(name: "u32", ..)`.
//!
//! Source: the LLVM language reference, "Specialized Metadata Nodes"
//! (<https://llvm.org/docs/LangRef.html#specialized-metadata-nodes>).

use std::{borrow::Cow, collections::HashMap, path::Path};

use kernelmill_artifact::Scalar;

/// The number of a node.
pub(super) type NodeId = u32;

/// The nodes of a module.
pub(super) struct DebugInfo<'a> {
    nodes: HashMap<NodeId, &'a str>,
    /// The descriptions of functions with reserved names, by name.
    subprograms: HashMap<&'a str, NodeId>,
}

/// A member of a struct.
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) ty: NodeId,
    /// In bytes.
    pub(super) offset: u64,
    /// Whether it is `pub`.
    pub(super) public: bool,
}

/// What a struct consists of.
pub(super) struct Members<'a> {
    /// Those that have bytes.
    pub(super) with_bytes: Vec<Member<'a>>,
    /// Whether one without bytes is private, or has a private part.
    pub(super) is_sealed: bool,
}

/// The name of a variant of an enum, and its value.
pub(super) type Variant<'a> = (Cow<'a, str>, i128);

/// The start of the description of a function with a reserved name.
const RESERVED: &str = "DISubprogram(name: \"__kernelmill_";

impl<'a> DebugInfo<'a> {
    /// Finds the nodes in a module's text. They are parsed when they are asked for.
    pub(super) fn read(module: &'a str) -> Self {
        let (mut nodes, mut subprograms) = (HashMap::new(), HashMap::new());
        for line in module.lines().filter_map(|line| line.strip_prefix('!')) {
            let Some((number, node)) = line.split_once(" = ") else { continue };
            let Ok(number) = number.parse() else { continue };
            let node = node.strip_prefix("distinct ").unwrap_or(node);
            nodes.insert(number, node);
            if let Some(at) = node.find(RESERVED) {
                let name = &node[at + "DISubprogram(name: \"".len()..];
                let name = name.split('"').next().unwrap_or_default();
                if node.contains("DISPFlagDefinition") {
                    subprograms.insert(name, number);
                }
            }
        }
        Self { nodes, subprograms }
    }

    /// The reserved names of functions, in no order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.subprograms.keys().copied()
    }

    /// The file and the line of a function with a reserved name.
    pub(super) fn place(&self, name: &str) -> Option<(String, u32)> {
        let function = *self.subprograms.get(name)?;
        let line = u32::try_from(self.number(function, "line")?).ok()?;
        let file = self.reference(function, "file")?;
        let text = |name| Some(unescaped(self.field(file, name)?.trim_matches('"')));
        let folder = text("directory").unwrap_or_default();
        let path = Path::new(&*folder).join(&*text("filename")?);
        Some((path.to_string_lossy().into_owned(), line))
    }

    /// The type of a function with a reserved name.
    pub(super) fn subprogram(&self, name: &str) -> Option<NodeId> {
        self.reference(*self.subprograms.get(name)?, "type")
    }

    /// The result of a function type, and its parameters. `()` is nothing.
    pub(super) fn function_type(&self, id: NodeId) -> (Option<NodeId>, Vec<Option<NodeId>>) {
        let types = self.reference(id, "types").map(|list| self.list(list)).unwrap_or_default();
        let mut types = types.into_iter();
        (types.next().flatten(), types.collect())
    }

    /// The type behind a pointer or a reference to one value.
    pub(super) fn pointee(&self, id: NodeId) -> Option<NodeId> {
        self.is(id, "DW_TAG_pointer_type").then(|| self.reference(id, "baseType")).flatten()
    }

    /// The name of a type, as Rust writes it.
    pub(super) fn name(&self, id: NodeId) -> Cow<'a, str> {
        in_rust(unescaped(self.field(id, "name").unwrap_or_default().trim_matches('"')))
    }

    /// The size of a type in bytes.
    pub(super) fn size(&self, id: NodeId) -> u64 {
        match self.is(id, "DW_TAG_typedef").then(|| self.reference(id, "baseType")).flatten() {
            Some(inner) => self.size(inner),
            None => self.number(id, "size").unwrap_or(0) / 8,
        }
    }

    /// Whether it is the type of the language of this name. Since Rust 1.101 `usize` is another name of
    /// `u64`; an alias of the source is never in debug information.
    pub(super) fn is_basic(&self, id: NodeId, name: &str) -> bool {
        let is_basic = self.node(id).starts_with("!DIBasicType(") || self.is(id, "DW_TAG_typedef");
        is_basic && self.name(id) == name
    }

    /// The element and the length of an array.
    pub(super) fn array(&self, id: NodeId) -> Option<(NodeId, u64)> {
        if !self.is(id, "DW_TAG_array_type") {
            return None;
        }
        let ranges = self.list(self.reference(id, "elements")?);
        let [Some(range)] = *ranges else { return None };
        Some((self.reference(id, "baseType")?, self.number(range, "count")?))
    }

    /// The members of a struct; `None` for every other type, an `enum` among them.
    pub(super) fn structure(&self, id: NodeId) -> Option<Members<'a>> {
        if !self.is(id, "DW_TAG_structure_type") {
            return None;
        }
        let elements = self.reference(id, "elements").map(|list| self.list(list));
        let mut members = Members { with_bytes: Vec::new(), is_sealed: false };
        for element in elements.unwrap_or_default() {
            let element = element.filter(|element| self.is(*element, "DW_TAG_member"))?;
            let ty = self.reference(element, "baseType")?;
            let public = self.field(element, "flags") == Some("DIFlagPublic");
            if self.size(ty) == 0 {
                members.is_sealed |= !public || !self.is_open(ty);
                continue;
            }
            let offset = self.number(element, "offset").unwrap_or(0) / 8;
            let name = field_name(self.name(element));
            members.with_bytes.push(Member { name, ty, offset, public });
        }
        Some(members)
    }

    /// Whether everybody can make a value of a type without bytes: `()`, `PhantomData<T>`, and tuples and structs of
    /// such, whose fields are all `pub`.
    pub(super) fn is_open(&self, id: NodeId) -> bool {
        let name = self.name(id);
        let is_marker = name.starts_with("PhantomData<") || name == "PhantomPinned";
        if self.is_basic(id, "()") || is_marker && self.is_of_crate(id, "core") {
            return true;
        }
        // The members of tuples have no visibility.
        let is_tuple = name.starts_with('(') || name.starts_with("tuple$<");
        match self.structure(id) {
            Some(members) if is_tuple => {
                let elements = self.reference(id, "elements").map(|list| self.list(list));
                let types = elements.unwrap_or_default().into_iter().flatten();
                let mut types = types.filter_map(|element| self.reference(element, "baseType"));
                members.with_bytes.is_empty() && types.all(|ty| self.is_open(ty))
            }
            Some(members) => members.with_bytes.is_empty() && !members.is_sealed,
            None => false,
        }
    }

    /// The integer of an enum without data, and its variants with their values; `None` for every other type.
    pub(super) fn enumeration(&self, id: NodeId) -> Option<(NodeId, Vec<Variant<'a>>)> {
        if !self.is(id, "DW_TAG_enumeration_type") {
            return None;
        }
        let elements = self.reference(id, "elements").map(|list| self.list(list));
        let variant = |element: Option<NodeId>| {
            let element = element?;
            let value = self.field(element, "value")?.parse().ok()?;
            Some((self.name(element), value))
        };
        let variants = elements.unwrap_or_default().into_iter().map(variant);
        Some((self.reference(id, "baseType")?, variants.collect::<Option<_>>()?))
    }

    /// The first type argument of a struct.
    pub(super) fn type_argument(&self, id: NodeId) -> Option<NodeId> {
        let arguments = self.list(self.reference(id, "templateParams")?);
        self.reference((*arguments.first()?)?, "type")
    }

    /// Whether a struct is defined in a crate, by the modules around it.
    pub(super) fn is_of_crate(&self, id: NodeId, wanted: &str) -> bool {
        let scopes = std::iter::successors(self.reference(id, "scope"), |scope| {
            self.reference(*scope, "scope")
        });
        scopes.last().is_some_and(|outermost| self.name(outermost) == wanted)
    }

    /// The number in one of the atomics of `core` and of the device crate: `AtomicU32`, and since Rust
    /// 1.95 `Atomic<u32>`.
    pub(super) fn atomic(&self, id: NodeId) -> Option<Scalar> {
        let name = self.name(id);
        let inner = name.strip_prefix("Atomic")?;
        let inner = inner.strip_prefix('<').and_then(|it| it.strip_suffix('>')).unwrap_or(inner);
        let is_known = self.is_of_crate(id, "core") || self.is_of_crate(id, "kernelmill_device");
        is_known.then(|| Scalar::from_name(&inner.to_lowercase())).flatten()
    }

    /// A type as Rust writes it, more or less.
    pub(super) fn spell(&self, id: Option<NodeId>) -> String {
        let Some(id) = id else { return "()".to_owned() };
        if let Some((element, length)) = self.array(id) {
            return format!("[{}; {length}]", self.spell(Some(element)));
        }
        match (self.name(id), self.pointee(id)) {
            (name, Some(pointee)) if name.is_empty() => format!("&{}", self.spell(Some(pointee))),
            (name, _) => name.into_owned(),
        }
    }

    fn node(&self, id: NodeId) -> &'a str {
        self.nodes.get(&id).copied().unwrap_or_default()
    }

    fn is(&self, id: NodeId, tag: &str) -> bool {
        self.field(id, "tag") == Some(tag)
    }

    /// The value of a node's field, as it is written.
    fn field(&self, id: NodeId, name: &str) -> Option<&'a str> {
        let (_, fields) = self.node(id).split_once('(')?;
        let fields = parts(fields.strip_suffix(')')?);
        fields
            .filter_map(|field| field.split_once(": "))
            .find_map(|(it, value)| (it == name).then_some(value))
    }

    fn reference(&self, id: NodeId, name: &str) -> Option<NodeId> {
        self.field(id, name)?.strip_prefix('!')?.parse().ok()
    }

    fn number(&self, id: NodeId, name: &str) -> Option<u64> {
        // LLVM writes the type of some numbers before them.
        self.field(id, name)?.rsplit(' ').next()?.parse().ok()
    }

    /// The nodes of a list, `!{null, !3}`.
    fn list(&self, id: NodeId) -> Vec<Option<NodeId>> {
        let text = self.node(id).strip_prefix("!{").and_then(|it| it.strip_suffix('}'));
        let parts = parts(text.unwrap_or_default()).filter(|part| !part.is_empty());
        parts.map(|part| part.strip_prefix('!').and_then(|it| it.parse().ok())).collect()
    }
}

/// The parts between commas, of which those in brackets and strings separate nothing.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (mut depth, mut in_string) = (0_u32, false);
        let end = text.char_indices().find_map(|(at, character)| {
            match character {
                '"' => in_string = !in_string,
                _ if in_string => {}
                '(' | '{' => depth += 1,
                ')' | '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => return Some(at),
                _ => {}
            }
            None
        });
        rest = end.map(|end| &text[end + 1..]);
        Some(text[..end.unwrap_or(text.len())].trim())
    })
}

/// A string of LLVM's, in which two hexadecimal digits after a backslash are a byte.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// A name that may be written as for Microsoft's debuggers, which read names of C++: `ptr_mut$<Pair<u8,u8> >`.
fn in_rust(name: Cow<'_, str>) -> Cow<'_, str> {
    const POINTERS: [(&str, &str); 4] = [
        ("ptr_mut$<", "*mut "),
        ("ptr_const$<", "*const "),
        ("ref_mut$<", "&mut "),
        ("ref$<", "&"),
    ];
    for (start, sign) in POINTERS {
        let inner = name.strip_prefix(start).and_then(|rest| rest.strip_suffix('>'));
        if let Some(inner) = inner {
            return Cow::Owned(format!("{sign}{}", in_rust(Cow::Borrowed(inner.trim_end()))));
        }
    }
    if !name.contains(',') && !name.contains("> >") {
        return name;
    }
    let name = name.replace(", ", ",").replace(',', ", ");
    Cow::Owned(name.replace("> >", ">>").replace("> >", ">>"))
}

/// The name of a field: that of a tuple struct's first one is `__0` here, and `0` in the source.
fn field_name(name: Cow<'_, str>) -> Cow<'_, str> {
    match name.strip_prefix("__") {
        Some(number) if number.parse::<u32>().is_ok() => Cow::Owned(number.to_owned()),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
define void @f() { ret void }
!llvm.dbg.cu = !{!1}
!2 = !DIBasicType(name: "u32", size: 32, encoding: DW_ATE_unsigned)
!3 = !{!4, !6}
!4 = !DIDerivedType(tag: DW_TAG_member, name: "gr\C3\B6\C3\9Fe", scope: !5, baseType: !2, size: 32, align: 32, offset: 64, flags: DIFlagPublic)
!5 = !DICompositeType(tag: DW_TAG_structure_type, name: "Pair<(u8, u8), 2>", scope: !7, size: 96, elements: !3)
!6 = !DIDerivedType(tag: DW_TAG_member, name: "__1", baseType: !8, align: 8)
!7 = !DINamespace(name: "inner", scope: !9)
!8 = !DIBasicType(name: "()", encoding: DW_ATE_unsigned)
!9 = !DINamespace(name: "k", scope: null)
!10 = distinct !DISubprogram(name: "__kernelmill_entry_k", type: !11, spFlags: DISPFlagDefinition)
!11 = !DISubroutineType(types: !12)
!12 = !{null, !13, !2}
!13 = !DICompositeType(tag: DW_TAG_array_type, baseType: !2, size: 96, elements: !14)
!14 = !{!15}
!15 = !DISubrange(count: i64 3, lowerBound: 0)
"#;

    #[test]
    fn nodes_are_read_by_their_fields() {
        let debug = DebugInfo::read(MODULE);
        let (result, parameters) =
            debug.function_type(debug.subprogram("__kernelmill_entry_k").unwrap());
        assert_eq!((result, &*parameters), (None, &[Some(13), Some(2)][..]));
        assert_eq!(debug.array(13), Some((2, 3)));
        assert_eq!(debug.spell(Some(13)), "[u32; 3]");
        assert_eq!(debug.name(5), "Pair<(u8, u8), 2>");
        assert!(debug.is_of_crate(5, "k") && !debug.is_of_crate(5, "inner"));
        let members = debug.structure(5).unwrap();
        // The second one has no bytes.
        assert!(members.is_sealed);
        let members = members.with_bytes.iter();
        let members: Vec<_> = members.map(|it| (&*it.name, it.ty, it.offset, it.public)).collect();
        assert_eq!(members, [("größe", 2, 8, true)]);
    }

    #[test]
    fn names_for_microsofts_debuggers_are_those_of_rust() {
        for (written, expected) in [
            ("ptr_mut$<Pair<u8,array$<f32,3> > >", "*mut Pair<u8, array$<f32, 3>>"),
            ("ref$<ptr_const$<f32> >", "&*const f32"),
            ("TensorMap<f32,3>", "TensorMap<f32, 3>"),
            ("A<B<C<u8> > >", "A<B<C<u8>>>"),
            ("Pair<(u8, u8), 2>", "Pair<(u8, u8), 2>"),
            ("f32", "f32"),
        ] {
            assert_eq!(in_rust(Cow::Borrowed(written)), expected);
        }
    }

    #[test]
    fn commas_in_brackets_and_strings_separate_nothing() {
        let all: Vec<_> = parts("a: \"x, (y\", b: !E(1, 2), c: {3, 4}").collect();
        assert_eq!(all, ["a: \"x, (y\"", "b: !E(1, 2)", "c: {3, 4}"]);
    }
}
