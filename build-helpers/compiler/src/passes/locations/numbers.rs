//! Locations whose addresses nothing reads from: numbers serve as well.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Value};

use crate::base::names::is_panic;

/// Whether the addresses of locations in device memory are only told apart: they are what a panic is given last, or the
/// table's address is taken from them.
pub(super) fn is_numbered(locations: &[Value<'_>], base: Option<Value<'_>>) -> bool {
    let is_of_device = |it: &Value<'_>| it.ty().address_space() != 0;
    locations.iter().all(|it| is_of_device(it) && addresses(*it).is_some())
        && locations.iter().flat_map(|it| addresses(*it).unwrap_or_default()).all(|address| {
            let mut seen = HashSet::new();
            address.users().into_iter().all(|user| is_told_apart(user, address, base, &mut seen))
        })
}

/// Puts a number in the place of a location's address.
pub(super) fn number(location: Value<'_>, number: u64) {
    for address in addresses(location).unwrap_or_default() {
        address.replace_with(address.ty().constant(number));
    }
}

/// The addresses of a location as numbers; `None` where it is named otherwise.
fn addresses(pointer: Value<'_>) -> Option<Vec<Value<'_>>> {
    let mut found = Vec::new();
    for user in pointer.users() {
        if !user.is_constant_expression() {
            return None;
        }
        match user.constant_opcode() {
            Opcode::AddrSpaceCast => found.extend(addresses(user)?),
            Opcode::PtrToInt => found.push(user),
            _ => return None,
        }
    }
    Some(found)
}

/// Whether a user of an address only tells it apart from others.
fn is_told_apart<'c>(
    user: Value<'c>,
    address: Value<'c>,
    base: Option<Value<'c>>,
    seen: &mut HashSet<Value<'c>>,
) -> bool {
    if !user.is_instruction() {
        return false;
    }
    match user.opcode() {
        Opcode::Call => {
            let is_of_panic = user.called_function().is_some_and(|it| is_panic(&it.name()));
            let arguments = user.arguments();
            let places = arguments.iter().filter(|it| **it == address).count();
            is_of_panic && places == 1 && arguments.last() == Some(&address)
        }
        Opcode::Phi | Opcode::Select => {
            let is_new = seen.insert(user);
            !is_new || user.users().into_iter().all(|it| is_told_apart(it, user, base, seen))
        }
        Opcode::Sub => {
            let other = user.operand(1);
            let is_call = other.is_instruction() && other.opcode() == Opcode::Call;
            base.is_some() && is_call && other.called_function() == base
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use kernelmill_llvm::{
        inkwell::context::Context,
        ir::{ModuleExt, parse_ir},
    };

    use super::*;
    use crate::base::{loaded::open_llvm, names::LOCATION_BASE};

    /// A location in global memory, as an address that everything knows.
    const ADDRESS: &str = "ptrtoint (ptr addrspacecast (ptr addrspace(1) @place to ptr) to i64)";

    /// Whether the one location of a function is numbered, and what becomes of the function's body then.
    fn numbered(body: &str) -> Option<String> {
        numbered_in("addrspace(1)", body)
    }

    fn numbered_in(space: &str, body: &str) -> Option<String> {
        open_llvm();
        let context = Context::create();
        let text = format!(
            "@place = private {space} constant {{ ptr, [16 x i8] }} zeroinitializer
declare i64 @{LOCATION_BASE}()
declare void @__kernelmill_panic(i32, i64, i64, i64)
declare void @other(i64)
define void @f(i1 %c, ptr %p, i64 %n) {{
{body}
}}"
        );
        let module = parse_ir(&context, &text, "", "").unwrap();
        let place = module.global("place").unwrap();
        if !is_numbered(&[place], module.function(LOCATION_BASE)) {
            return None;
        }
        number(place, 48);
        Some(module.to_text().split_once("@f(").unwrap().1.to_owned())
    }

    #[test]
    fn the_place_of_a_panic_is_a_number() {
        let call = |place: &str| {
            format!("call void @__kernelmill_panic(i32 2, i64 %n, i64 %n, i64 {place})\nret void")
        };
        let text = numbered(&call(ADDRESS)).unwrap();
        assert!(text.contains("@__kernelmill_panic(i32 2, i64 %n, i64 %n, i64 48)"), "{text}");
        let chosen = format!("%x = select i1 %c, i64 {ADDRESS}, i64 %n\n{}", call("%x"));
        assert!(numbered(&chosen).unwrap().contains("select i1 %c, i64 48, i64 %n"));
        let from_base = format!(
            "%base = call i64 @{LOCATION_BASE}()\n%x = sub i64 {ADDRESS}, %base\ncall void @other(i64 %x)\nret void"
        );
        assert!(numbered(&from_base).unwrap().contains("sub i64 48, %base"));
    }

    /// A value of the message, a place in memory, another function, another number that it is taken from, and a location that is
    /// read.
    #[test]
    fn a_location_that_is_an_address_stays_one() {
        for body in [
            format!("call void @__kernelmill_panic(i32 2, i64 {ADDRESS}, i64 %n, i64 %n)"),
            format!("call void @__kernelmill_panic(i32 2, i64 %n, i64 {ADDRESS}, i64 {ADDRESS})"),
            format!("store i64 {ADDRESS}, ptr %p"),
            format!("call void @other(i64 {ADDRESS})"),
            format!(
                "%x = sub i64 {ADDRESS}, %n\ncall void @__kernelmill_panic(i32 2, i64 %n, i64 %n, i64 %x)"
            ),
            format!("%x = select i1 %c, i64 {ADDRESS}, i64 %n\nstore i64 %x, ptr %p"),
            "store ptr addrspacecast (ptr addrspace(1) @place to ptr), ptr %p".to_owned(),
            "%x = load i64, ptr addrspace(1) @place".to_owned(),
        ] {
            assert_eq!(numbered(&format!("{body}\nret void")), None, "{body}");
        }
    }

    #[test]
    fn on_the_cpu_locations_are_addresses() {
        let body = "call void @__kernelmill_panic(i32 2, i64 %n, i64 %n, i64 ptrtoint (ptr @place to i64))\nret void";
        assert_eq!(numbered_in("", body), None);
    }
}
