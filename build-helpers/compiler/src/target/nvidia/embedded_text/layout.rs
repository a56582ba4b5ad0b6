//! The layout of a finished cubin: the header, the sections in their order, each at the next place that its alignment allows, the
//! table of sections and the table of segments.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    mem::{size_of, size_of_val},
};

use object::{
    LittleEndian, U64,
    elf::{FileHeader64, ProgramHeader64, SHF_ALLOC, SHT_NOBITS, SectionHeader64},
    pod::{bytes_of, bytes_of_slice},
    read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _},
};

const LITTLE: LittleEndian = LittleEndian;

/// The tables of a cubin.
pub(super) struct Elf<'d> {
    bytes: &'d [u8],
    header: &'d FileHeader64<LittleEndian>,
    sections: &'d [SectionHeader64<LittleEndian>],
    segments: &'d [ProgramHeader64<LittleEndian>],
    names: Vec<&'d str>,
}

/// Where the parts of a file are, in bytes from its start.
struct Places {
    sections: Vec<u64>,
    section_table: u64,
    segment_table: u64,
}

impl<'d> Elf<'d> {
    /// Reads the tables; `None` where the bytes are no ELF file.
    pub(super) fn parse(bytes: &'d [u8]) -> Option<Self> {
        let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
        let table = header.sections(LITTLE, bytes).ok()?;
        let sections = header.section_headers(LITTLE, bytes).ok()?;
        let segments = header.program_headers(LITTLE, bytes).ok()?;
        let name = |section| std::str::from_utf8(table.section_name(LITTLE, section).ok()?).ok();
        let names = sections.iter().map(name).collect::<Option<_>>()?;
        Some(Self { bytes, header, sections, segments, names })
    }

    /// The name of a section.
    pub(super) fn name(&self, index: usize) -> Option<&'d str> {
        self.names.get(index).copied()
    }

    /// The bytes of each section; none for those that take no place in the file.
    pub(super) fn contents(&self) -> Option<Vec<Cow<'d, [u8]>>> {
        let content = |section: &SectionHeader64<LittleEndian>| {
            section.data(LITTLE, self.bytes).ok().map(Cow::Borrowed)
        };
        self.sections.iter().map(content).collect()
    }

    /// The file with these bytes in its sections. `None` where the tables say what no finished cubin has.
    pub(super) fn written(&self, contents: &[Cow<'_, [u8]>]) -> Option<Vec<u8>> {
        let places = self.places(contents)?;
        let mut file = Vec::new();
        for index in self.order() {
            if !contents[index].is_empty() {
                put(&mut file, places.sections[index], &contents[index])?;
            }
        }
        let mut header = *self.header;
        header.e_shoff = U64::new(LITTLE, places.section_table);
        if !self.segments.is_empty() {
            header.e_phoff = U64::new(LITTLE, places.segment_table);
        }
        put(&mut file, 0, bytes_of(&header))?;
        let mut sections = self.sections.to_vec();
        for (index, section) in sections.iter_mut().enumerate().skip(1) {
            section.sh_offset = U64::new(LITTLE, places.sections[index]);
            if !is_empty(section) {
                section.sh_size = U64::new(LITTLE, contents[index].len() as u64);
            }
        }
        put(&mut file, places.section_table, bytes_of_slice(&sections))?;
        let segments = self.segments.iter().map(|segment| self.moved(segment, contents, &places));
        let segments: Vec<_> = segments.collect::<Option<_>>()?;
        put(&mut file, places.segment_table, bytes_of_slice(&segments))?;
        Some(file)
    }

    /// The sections in the order of the file.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (1..self.sections.len()).collect();
        order.sort_by_key(|index| (self.sections[*index].sh_offset(LITTLE), *index));
        order
    }

    /// Where the parts of the file are with these bytes in its sections.
    fn places(&self, contents: &[Cow<'_, [u8]>]) -> Option<Places> {
        let mut sections = vec![0; self.sections.len()];
        let mut end = size_of::<FileHeader64<LittleEndian>>() as u64;
        let mut known: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for index in self.order() {
            let section = &self.sections[index];
            let own = (section.sh_offset(LITTLE), section.sh_size(LITTLE));
            // A copy of a section for the other form of the code shares its bytes.
            if let Some(place) = known.get(&own).filter(|_| !is_empty(section)) {
                sections[index] = *place;
                continue;
            }
            end = end.checked_next_multiple_of(section.sh_addralign(LITTLE).max(1))?;
            sections[index] = end;
            if !is_empty(section) && own.1 > 0 {
                known.insert(own, end);
                end = end.checked_add(contents[index].len() as u64)?;
            }
        }
        let bytes = size_of_val(self.sections);
        let segment_table = end.checked_add(bytes as u64)?;
        Some(Places { sections, section_table: end, segment_table })
    }

    /// A segment at the new place of its sections.
    fn moved(
        &self,
        segment: &ProgramHeader64<LittleEndian>,
        contents: &[Cow<'_, [u8]>],
        places: &Places,
    ) -> Option<ProgramHeader64<LittleEndian>> {
        let mut moved = *segment;
        let (start, size) = (segment.p_offset(LITTLE), segment.p_filesz(LITTLE));
        if start == self.header.e_phoff(LITTLE) {
            moved.p_offset = U64::new(LITTLE, places.segment_table);
            return Some(moved);
        }
        let loaded = || self.order().into_iter().filter(|index| is_loaded(&self.sections[*index]));
        let old_start = |index: usize| self.sections[index].sh_offset(LITTLE);
        let new_start = places.sections[loaded().find(|index| old_start(*index) == start)?];
        moved.p_offset = U64::new(LITTLE, new_start);
        if size == 0 {
            return Some(moved);
        }
        // It ends where its last section ends, or where the first starts that takes no place in the file.
        let end = |index: usize| {
            let section = &self.sections[index];
            let (old, new) = (old_start(index), places.sections[index]);
            if is_empty(section) {
                return Some((old, new));
            }
            let bytes = contents[index].len() as u64;
            Some((old.checked_add(section.sh_size(LITTLE))?, new.checked_add(bytes)?))
        };
        let old_end = start.checked_add(size)?;
        let (_, new_end) = loaded().filter_map(end).find(|(old, _)| *old == old_end)?;
        let new_size = new_end.checked_sub(new_start)?;
        moved.p_filesz = U64::new(LITTLE, new_size);
        let memory = segment.p_memsz(LITTLE).checked_sub(size)?.checked_add(new_size)?;
        moved.p_memsz = U64::new(LITTLE, memory);
        Some(moved)
    }
}

/// Whether a section takes no place in the file.
fn is_empty(section: &SectionHeader64<LittleEndian>) -> bool {
    section.sh_type(LITTLE) == SHT_NOBITS
}

/// Whether a section is loaded onto the device.
fn is_loaded(section: &SectionHeader64<LittleEndian>) -> bool {
    section.sh_flags(LITTLE).contains(SHF_ALLOC)
}

/// Writes bytes at a place of the file, and zeros before it where it is shorter.
fn put(file: &mut Vec<u8>, place: u64, bytes: &[u8]) -> Option<()> {
    let place = usize::try_from(place).ok()?;
    let end = place.checked_add(bytes.len())?;
    // A place beyond all that a cubin can be is that of a broken table.
    if end > MOST_BYTES {
        return None;
    }
    if file.len() < end {
        file.resize(end, 0);
    }
    file.get_mut(place..end)?.copy_from_slice(bytes);
    Some(())
}

/// The longest file that is written, in bytes.
const MOST_BYTES: usize = 1 << 32;
