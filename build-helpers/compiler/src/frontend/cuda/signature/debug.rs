//! Debug information as a tree of plain values: what is asked of it here, and no more.

use gimli::{
    AttributeValue, DebugStrOffsetsBase, DebuggingInformationEntry, Dwarf, DwarfFileType,
    EndianSlice, LittleEndian, Operation, SectionId, UnitHeader, constants as dw,
};
use std::collections::{BTreeMap, HashMap};

/// The bytes of sections with debug information, by their names: `.debug_info`.
#[derive(Debug, Default)]
pub(super) struct Sections(BTreeMap<String, Vec<u8>>);

impl Sections {
    pub(super) fn get(&self, name: &str) -> &[u8] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn put(&mut self, name: String, bytes: Vec<u8>) {
        self.0.insert(name, bytes);
    }

    pub(super) fn take(&mut self, name: &str) -> Vec<u8> {
        self.0.remove(name).unwrap_or_default()
    }

    pub(super) fn patch(&mut self, name: &str, offset: usize, bytes: &[u8]) {
        if let Some(section) = self.0.get_mut(name) {
            section[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
    }
}

/// The place of a [`Node`] in its [`struct@Debug`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(usize);

/// One entry of the debug information.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) tag: dw::DwTag,
    pub(super) children: Vec<NodeId>,
    pub(super) name: Option<String>,
    pub(super) linkage_name: Option<String>,
    /// The type of what it is, `None` for `void`.
    pub(super) ty: Option<NodeId>,
    /// The entry that this one completes.
    pub(super) origin: Option<NodeId>,
    pub(super) size: Option<u64>,
    pub(super) align: Option<u64>,
    pub(super) encoding: Option<dw::DwAte>,
    /// The offset of a member in bytes.
    pub(super) offset: Option<u64>,
    /// The number of elements of an array.
    pub(super) count: Option<u64>,
    /// The value of an enumerator.
    pub(super) value: Option<i128>,
    pub(super) file: Option<u64>,
    pub(super) line: Option<u64>,
    pub(super) is_declaration: bool,
    pub(super) is_external: bool,
    pub(super) is_virtual: bool,
    pub(super) is_bit_field: bool,
    /// A class that functions take by reference although it is passed by value.
    pub(super) is_passed_by_reference: bool,
}

/// A program's functions and types.
#[derive(Debug, Default)]
pub(super) struct Debug {
    nodes: Vec<Node>,
    /// The main files, absolute where the compiler says so: `folder/name`.
    pub(super) main_files: Vec<String>,
}

type Reader<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = DebuggingInformationEntry<Reader<'a>>;

/// What is kept of a tree: types, functions with their parameters, variables outside of functions, and what is around
/// them.
const KEPT: [dw::DwTag; 28] = [
    dw::DW_TAG_compile_unit,
    dw::DW_TAG_namespace,
    dw::DW_TAG_subprogram,
    dw::DW_TAG_formal_parameter,
    dw::DW_TAG_variable,
    dw::DW_TAG_base_type,
    dw::DW_TAG_unspecified_type,
    dw::DW_TAG_typedef,
    dw::DW_TAG_template_alias,
    dw::DW_TAG_template_type_parameter,
    dw::DW_TAG_const_type,
    dw::DW_TAG_volatile_type,
    dw::DW_TAG_restrict_type,
    dw::DW_TAG_atomic_type,
    dw::DW_TAG_pointer_type,
    dw::DW_TAG_reference_type,
    dw::DW_TAG_rvalue_reference_type,
    dw::DW_TAG_ptr_to_member_type,
    dw::DW_TAG_subroutine_type,
    dw::DW_TAG_array_type,
    dw::DW_TAG_subrange_type,
    dw::DW_TAG_structure_type,
    dw::DW_TAG_class_type,
    dw::DW_TAG_union_type,
    dw::DW_TAG_member,
    dw::DW_TAG_inheritance,
    dw::DW_TAG_enumeration_type,
    dw::DW_TAG_enumerator,
];

impl Debug {
    /// Reads sections of any version of DWARF.
    pub(super) fn read(sections: &Sections) -> Result<Self, gimli::Error> {
        let dwarf = Dwarf::load(|id: SectionId| {
            Ok::<_, gimli::Error>(EndianSlice::new(sections.get(id.name()), LittleEndian))
        })?;
        let mut debug = Self::default();
        let (mut places, mut links) = (HashMap::new(), Vec::new());
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            debug.unit(&dwarf, header, &mut places, &mut links)?;
        }
        for (node, ty, origin) in links {
            let find = |place: Option<usize>| place.and_then(|place| places.get(&place).copied());
            debug.nodes[node].ty = find(ty);
            debug.nodes[node].origin = find(origin);
        }
        Ok(debug)
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = &Node> {
        self.node(id).children.iter().map(|child| self.node(*child))
    }

    /// What the entry says, or the one that it completes.
    pub(super) fn said<'a, T>(
        &'a self,
        node: &'a Node,
        what: impl Fn(&'a Node) -> Option<T>,
    ) -> Option<T> {
        what(node).or_else(|| what(self.node(node.origin?)))
    }

    /// Every function that is defined, by its name in compiled code.
    pub(super) fn functions(&self) -> HashMap<&str, NodeId> {
        self.defined(dw::DW_TAG_subprogram)
    }

    /// Every variable outside of functions that is defined, by its name in compiled code.
    pub(super) fn variables(&self) -> HashMap<&str, NodeId> {
        self.defined(dw::DW_TAG_variable)
    }

    fn defined(&self, tag: dw::DwTag) -> HashMap<&str, NodeId> {
        let mut found = HashMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if node.tag == tag && !node.is_declaration {
                let name = self
                    .said(node, |node| node.linkage_name.as_deref())
                    .or_else(|| self.said(node, |node| node.name.as_deref()));
                if let Some(name) = name {
                    found.insert(name, NodeId(index));
                }
            }
        }
        found
    }

    /// Reads one unit. `places` gets where each entry lies in the section, `links` who refers to
    /// which place.
    fn unit<'a>(
        &mut self,
        dwarf: &Dwarf<Reader<'a>>,
        header: UnitHeader<Reader<'a>>,
        places: &mut HashMap<usize, NodeId>,
        links: &mut Vec<(usize, Option<usize>, Option<usize>)>,
    ) -> Result<(), gimli::Error> {
        let start = header.debug_info_offset().map_or(0, |offset| offset.0);
        let abbreviations = header.abbreviations(&dwarf.debug_abbrev)?;
        let mut strings = Strings::new(dwarf, &header);
        // The kept entries around the current one, `None` inside of what is not kept.
        let mut around: Vec<Option<NodeId>> = Vec::new();
        let mut cursor = header.entries(&abbreviations);
        while let Some(entry) = cursor.next_dfs()? {
            around.truncate(usize::try_from(entry.depth()).unwrap_or(0));
            let parent = around.last().copied();
            let is_kept = KEPT.contains(&entry.tag()) && parent.is_none_or(|it| it.is_some());
            let is_local = entry.tag() == dw::DW_TAG_variable
                && parent.flatten().is_some_and(|it| self.node(it).tag == dw::DW_TAG_subprogram);
            if !is_kept || is_local {
                around.push(None);
                continue;
            }
            if entry.tag() == dw::DW_TAG_compile_unit {
                strings.base(entry);
                self.main_files.extend(strings.main_file(entry));
            }
            let id = NodeId(self.nodes.len());
            self.nodes.push(node(entry, &strings));
            places.insert(start + entry.offset().0, id);
            links.push((id.0, target(entry, dw::DW_AT_type, start), origin(entry, start)));
            if let Some(Some(parent)) = parent {
                self.nodes[parent.0].children.push(id);
            }
            around.push(Some(id));
        }
        Ok(())
    }
}

/// The texts of one unit.
struct Strings<'d, 'a> {
    dwarf: &'d Dwarf<Reader<'a>>,
    format: gimli::Format,
    base: DebugStrOffsetsBase<usize>,
}

impl<'d, 'a> Strings<'d, 'a> {
    fn new(dwarf: &'d Dwarf<Reader<'a>>, header: &UnitHeader<Reader<'a>>) -> Self {
        let encoding = header.encoding();
        let base =
            DebugStrOffsetsBase::default_for_encoding_and_file(encoding, DwarfFileType::Main);
        Self { dwarf, format: encoding.format, base }
    }

    /// Takes over what a unit says of where its texts begin.
    fn base(&mut self, unit: &Entry<'a>) {
        let value = unit.attr_value(dw::DW_AT_str_offsets_base);
        if let Some(AttributeValue::DebugStrOffsetsBase(base)) = value {
            self.base = base;
        }
    }

    fn text(&self, entry: &Entry<'a>, name: dw::DwAt) -> Option<String> {
        let value = match entry.attr_value(name)? {
            AttributeValue::DebugStrOffsetsIndex(index) => {
                let offsets = &self.dwarf.debug_str_offsets;
                let offset = offsets.get_str_offset(self.format, self.base, index).ok()?;
                AttributeValue::DebugStrRef(offset)
            }
            value => value,
        };
        let text = self.dwarf.attr_line_string(value).ok()?;
        Some(text.to_string_lossy().into_owned()).filter(|text| !text.is_empty())
    }

    fn main_file(&self, unit: &Entry<'a>) -> Option<String> {
        let name = self.text(unit, dw::DW_AT_name)?;
        match self.text(unit, dw::DW_AT_comp_dir) {
            Some(folder) if !name.starts_with('/') => Some(format!("{folder}/{name}")),
            _ => Some(name),
        }
    }
}

/// The entry without its references.
fn node<'a>(entry: &Entry<'a>, strings: &Strings<'_, 'a>) -> Node {
    let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
    let flag = |name| matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)));
    let is_by_reference = matches!(
        entry.attr_value(dw::DW_AT_calling_convention),
        Some(AttributeValue::CallingConvention(dw::DW_CC_pass_by_reference))
    );
    Node {
        tag: entry.tag(),
        children: Vec::new(),
        name: strings.text(entry, dw::DW_AT_name),
        linkage_name: strings
            .text(entry, dw::DW_AT_linkage_name)
            .or_else(|| strings.text(entry, dw::DW_AT_MIPS_linkage_name)),
        ty: None,
        origin: None,
        size: number(dw::DW_AT_byte_size),
        align: number(dw::DW_AT_alignment),
        encoding: match entry.attr_value(dw::DW_AT_encoding) {
            Some(AttributeValue::Encoding(encoding)) => Some(encoding),
            _ => None,
        },
        offset: entry.attr_value(dw::DW_AT_data_member_location).and_then(member_offset),
        count: number(dw::DW_AT_count)
            .or_else(|| number(dw::DW_AT_upper_bound).and_then(|last| last.checked_add(1))),
        value: entry.attr_value(dw::DW_AT_const_value).and_then(|value| constant(&value)),
        file: match entry.attr_value(dw::DW_AT_decl_file) {
            Some(AttributeValue::FileIndex(index)) => Some(index),
            _ => None,
        },
        line: number(dw::DW_AT_decl_line),
        is_declaration: flag(dw::DW_AT_declaration),
        is_external: flag(dw::DW_AT_external),
        is_virtual: entry.has_attr(dw::DW_AT_virtuality),
        is_bit_field: entry.has_attr(dw::DW_AT_bit_size),
        is_passed_by_reference: is_by_reference,
    }
}

/// An offset is a number, or in old versions an expression that adds one.
fn member_offset(value: AttributeValue<Reader<'_>>) -> Option<u64> {
    let Some(expression) = value.exprloc_value() else { return value.udata_value() };
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 4 };
    match expression.operations(encoding).next().ok()?? {
        Operation::PlusConstant { value } | Operation::UnsignedConstant { value } => Some(value),
        _ => None,
    }
}

fn constant(value: &AttributeValue<Reader<'_>>) -> Option<i128> {
    match value {
        AttributeValue::Sdata(value) => Some((*value).into()),
        value => value.udata_value().map(Into::into),
    }
}

/// The place in the section that an attribute refers to.
fn target(entry: &Entry<'_>, name: dw::DwAt, unit: usize) -> Option<usize> {
    match entry.attr_value(name)? {
        AttributeValue::UnitRef(offset) => Some(unit + offset.0),
        AttributeValue::DebugInfoRef(offset) => Some(offset.0),
        _ => None,
    }
}

fn origin(entry: &Entry<'_>, unit: usize) -> Option<usize> {
    target(entry, dw::DW_AT_specification, unit)
        .or_else(|| target(entry, dw::DW_AT_abstract_origin, unit))
}
