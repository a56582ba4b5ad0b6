//! Static libraries of ELF objects, in the form of System V and GNU: an index of the symbols that each member defines, the
//! members' long names, and the members, with neither times nor owners.
//!
//! Written here and not by `ar`, of which GNU's opens each plugin of a linker that is installed: two calls take 90 ms of the
//! processor where three versions of LLVM have theirs. The libraries that write archives bring a second version of `object`.
//! The form is that of [GNU's `ar`](https://sourceware.org/git/?p=binutils-gdb.git;a=blob;f=include/aout/ar.h).

use object::{Object as _, ObjectSymbol as _};

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER_LENGTH: usize = 60;

/// An object by the name of its file.
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    pub(crate) content: &'a [u8],
}

/// The library of these members; `None` where one is no ELF object, has a name that cannot stand in a library, or where
/// their places are too large for the index, whose numbers have 32 bits.
pub(crate) fn write(members: &[Member<'_>]) -> Option<Vec<u8>> {
    let defined: Option<Vec<_>> = members.iter().map(|member| defined(member.content)).collect();
    let defined = defined?;
    let mut names = String::new();
    let mut headers = Vec::new();
    for member in members {
        if member.name.contains(['/', '\n', '\0']) {
            return None;
        }
        // A name ends with a slash, and takes 16 bytes with it or stands among the long ones.
        let name = match member.name.len() < 16 {
            true => format!("{}/", member.name),
            false => {
                let place = format!("/{}", names.len());
                names.push_str(member.name);
                names.push_str("/\n");
                place
            }
        };
        headers.push(header(&name, "644", member.content.len()));
    }
    let symbols = defined.iter().flatten();
    let index_length = even(4 + symbols.clone().map(|name| 4 + name.len() + 1).sum::<usize>());
    let mut place = MAGIC.len() + HEADER_LENGTH + index_length;
    if !names.is_empty() {
        place += HEADER_LENGTH + even(names.len());
    }
    let mut index = Vec::with_capacity(index_length);
    index.extend(u32::try_from(symbols.clone().count()).ok()?.to_be_bytes());
    for (member, symbols) in members.iter().zip(&defined) {
        let start = u32::try_from(place).ok()?.to_be_bytes();
        symbols.iter().for_each(|_| index.extend(start));
        place += HEADER_LENGTH + even(member.content.len());
    }
    for name in symbols {
        index.extend(name);
        index.push(0);
    }
    index.resize(index_length, 0);
    let mut library = Vec::with_capacity(place);
    library.extend(MAGIC);
    add(&mut library, &header("/", "0", index.len()), &index);
    if !names.is_empty() {
        add(&mut library, &header("//", "", names.len()), names.as_bytes());
    }
    for (member, header) in members.iter().zip(&headers) {
        add(&mut library, header, member.content);
    }
    Some(library)
}

/// The symbols that an object defines for others; `None` where it is none in ELF.
fn defined(content: &[u8]) -> Option<Vec<Vec<u8>>> {
    let object = object::File::parse(content).ok()?;
    if object.format() != object::BinaryFormat::Elf {
        return None;
    }
    let mut names = Vec::new();
    for symbol in object.symbols() {
        if symbol.is_global() && !symbol.is_undefined() {
            names.push(symbol.name_bytes().ok()?.to_owned());
        }
    }
    Some(names)
}

/// A header of 60 bytes: name, time, owner, group, mode, length, and the two bytes that end it. The mode of long names is empty, as
/// are their time and owners.
fn header(name: &str, mode: &str, length: usize) -> String {
    let zero = if mode.is_empty() { "" } else { "0" };
    format!("{name:16}{zero:12}{zero:6}{zero:6}{mode:8}{length:<10}`\n")
}

fn add(library: &mut Vec<u8>, header: &str, content: &[u8]) {
    library.extend(header.as_bytes());
    library.extend(content);
    if content.len() % 2 == 1 {
        library.push(b'\n');
    }
}

/// Members begin at even places.
fn even(length: usize) -> usize {
    length.next_multiple_of(2)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::{fs, process::Command};

    /// The output of a tool of the machine.
    fn said(program: &str, arguments: &[&str], folder: &std::path::Path) -> String {
        let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Linkers take from it the members that they need, as from one by `ar`, which reads the same in it.
    #[test]
    fn a_library_is_that_of_ar() {
        let folder = test_support::temporary_folder();
        let path = folder.path();
        let sources = [
            (
                "one",
                "int second(void); int one(void) { return second() + 1; } static int own; int *place(void) { return &own; }",
            ),
            (
                "with_a_name_that_is_long",
                "__attribute__((weak)) int weak = 3; int second(void) { return weak * 7; }",
            ),
            (
                "not_needed_by_anybody_at_all",
                "int nobody_has_this(void); int unused(void) { return nobody_has_this(); }",
            ),
            (
                "common",
                "int shared; __attribute__((visibility(\"hidden\"))) int hidden(void) { return shared; }",
            ),
        ];
        for (name, text) in sources {
            fs::write(path.join(format!("{name}.c")), text).unwrap();
            // One of an odd length too, whose member is filled up.
            said("cc", &["-c", "-fcommon", &format!("{name}.c")], path);
        }
        let mut contents =
            sources.map(|(name, _)| fs::read(path.join(format!("{name}.o"))).unwrap());
        contents[1].push(0);
        fs::write(path.join("with_a_name_that_is_long.o"), &contents[1]).unwrap();
        let names = sources.map(|(name, _)| format!("{name}.o"));
        let members = names.iter().zip(&contents);
        let members: Vec<_> = members.map(|(name, content)| Member { name, content }).collect();
        fs::write(path.join("libown.a"), write(&members).unwrap()).unwrap();
        let arguments = ["crsD", "libtheirs.a"];
        said("ar", &[&arguments[..], &names.each_ref().map(String::as_str)].concat(), path);
        let own = fs::read(path.join("libown.a")).unwrap();
        let theirs = fs::read(path.join("libtheirs.a")).unwrap();
        let differs = own.iter().zip(&theirs).position(|(own, theirs)| own != theirs);
        assert_eq!((own.len(), differs), (theirs.len(), None), "where it differs from ar's");
        let main = "#include <stdio.h>\nint one(void); int hidden(void);\nint main(void) { printf(\"%d\", one() + hidden()); }";
        fs::write(path.join("main.c"), main).unwrap();
        said("cc", &["main.c", "-L.", "-lown", "-o", "main"], path);
        assert_eq!(said("./main", &[], path), "22");
    }

    #[test]
    fn what_is_no_elf_object_is_left_to_others() {
        assert!(write(&[Member { name: "a.o", content: b"BC\xc0\xde" }]).is_none());
        assert!(write(&[Member { name: "a/b.o", content: b"" }]).is_none());
    }
}
