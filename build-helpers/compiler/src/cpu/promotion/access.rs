//! What a function does with its shared memory, where all places are known.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

/// What an access does. What it writes is asked for when it is rewritten: it may be what another has
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Load,
    Store,
}

/// An access of memory at known places.
#[derive(Clone, Debug)]
pub(super) struct Access<'c> {
    pub(super) instruction: Value<'c>,
    pub(super) what: What,
    /// Of one element, or a vector of them.
    pub(super) ty: Type<'c>,
    /// Where each element is, counted in bytes or elements.
    pub(super) places: Vec<i64>,
    pub(super) mask: Option<Value<'c>>,
}

impl<'c> Access<'c> {
    /// Counted in elements of so many bytes.
    pub(super) fn elements(&self, bytes: u64) -> Option<Self> {
        let bytes = bytes as i64;
        let one = |place: &i64| (place % bytes == 0).then_some(place / bytes);
        Some(Self { places: self.places.iter().map(one).collect::<Option<_>>()?, ..self.clone() })
    }

    /// Whether a lane takes part, where that is known.
    pub(super) fn takes_part(&self, lane: usize) -> Option<bool> {
        let Some(mask) = self.mask else { return Some(true) };
        if !mask.is_constant() {
            return None;
        }
        let bit = mask.constant_element(lane as u32)?;
        bit.as_u64().map(|bit| bit == 1)
    }
}

/// The accesses of some memory.
pub(super) struct Accesses<'a, 'c> {
    pub(super) size: &'a dyn Fn(Type<'c>) -> u64,
    pub(super) accesses: Vec<Access<'c>>,
    /// The addresses that are computed from its own.
    pub(super) chain: Vec<Value<'c>>,
}

impl<'c> Accesses<'_, 'c> {
    /// The bytes of an element, if all have as many.
    pub(super) fn element(&self) -> Option<u64> {
        let mut sizes = self.accesses.iter().map(|access| (self.size)(scalar(access.ty)));
        let first = sizes.next()?;
        (sizes.all(|size| size == first) && first.is_power_of_two()).then_some(first)
    }

    /// Collects what is done at an address, one or one for each lane; `None` where that is not known.
    pub(super) fn follow(&mut self, address: Value<'c>, places: &[i64]) -> Option<()> {
        for user in address.users() {
            if !user.is_instruction() {
                return None;
            }
            match user.opcode() {
                Opcode::GetElementPtr if user.operand(0) == address => {
                    let places = self.offset(user, places)?;
                    self.chain.push(user);
                    self.follow(user, &places)?;
                }
                Opcode::Load if !user.is_exact_access() => {
                    self.add(user, What::Load, user.ty(), places, None)?;
                }
                Opcode::Store if !user.is_exact_access() && user.operand(0) != address => {
                    self.add(user, What::Store, user.operand(0).ty(), places, None)?;
                }
                Opcode::Call => self.masked(user, address, places)?,
                Opcode::InsertElement if user.operand(1) == address => {
                    self.everywhere(user, places)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// An address that becomes that of all lanes.
    fn everywhere(&mut self, first: Value<'c>, places: &[i64]) -> Option<()> {
        self.chain.push(first);
        if first.operand(2).as_u64() != Some(0) || !first.operand(0).is_undefined() {
            return None;
        }
        for all in first.users() {
            let is_splat = all.opcode() == Opcode::ShuffleVector
                && all.operand(0) == first
                && all.shuffle_mask().iter().all(|lane| *lane == 0);
            if !is_splat {
                return None;
            }
            self.chain.push(all);
            self.follow(all, &vec![places[0]; lanes_of(all.ty()) as usize])?;
        }
        Some(())
    }

    /// A call of one of LLVM's functions for masked access.
    fn masked(&mut self, call: Value<'c>, address: Value<'c>, places: &[i64]) -> Option<()> {
        let found = call.masked_access()?;
        let (what, ty) = match found.written {
            Some(written) => (What::Store, written.ty()),
            None => (What::Load, call.ty()),
        };
        let uses = call.arguments().into_iter().filter(|it| *it == address).count();
        let only = found.address == address && uses == 1;
        if only { self.add(call, what, ty, places, Some(found.mask)) } else { None }
    }

    fn add(
        &mut self,
        instruction: Value<'c>,
        what: What,
        ty: Type<'c>,
        places: &[i64],
        mask: Option<Value<'c>>,
    ) -> Option<()> {
        let bytes = (self.size)(scalar(ty)) as i64;
        let is_number = matches!(
            scalar(ty).kind(),
            TypeKind::Integer | TypeKind::Half | TypeKind::Float | TypeKind::Double
        );
        if !is_number || scalar(ty).int_width().is_some_and(|bits| i64::from(bits) != 8 * bytes) {
            return None;
        }
        let places = match places {
            [first] => (0..lanes_of(ty)).map(|lane| first + bytes * i64::from(lane)).collect(),
            each => each.to_vec(),
        };
        self.accesses.push(Access { instruction, what, ty, places, mask });
        Some(())
    }

    /// Where a `getelementptr` leads.
    fn offset(&self, address: Value<'c>, places: &[i64]) -> Option<Vec<i64>> {
        let lanes = lanes_of(address.ty());
        let mut places = match places {
            [first] => vec![*first; lanes as usize],
            each => each.to_vec(),
        };
        let mut ty = address.element_type();
        for (depth, index) in address.operands().into_iter().skip(1).enumerate() {
            if depth > 0 {
                if ty.kind() != TypeKind::Array {
                    return None;
                }
                ty = ty.element();
            }
            let bytes = (self.size)(ty) as i64;
            for (lane, place) in places.iter_mut().enumerate() {
                let number = if lanes_of(index.ty()) > 1 {
                    index.is_constant().then(|| index.constant_element(lane as u32))??
                } else {
                    index
                };
                *place += signed(number)? * bytes;
            }
        }
        Some(places)
    }
}

/// The type of a vector's lanes, or the type itself.
fn scalar(ty: Type<'_>) -> Type<'_> {
    if ty.kind() == TypeKind::Vector { ty.element() } else { ty }
}

/// The lanes of a vector; 1 for anything else.
pub(super) fn lanes_of(ty: Type<'_>) -> u32 {
    ty.lanes().unwrap_or(1)
}

/// A constant index.
fn signed(value: Value<'_>) -> Option<i64> {
    let shift = 64 - value.ty().int_width().filter(|bits| *bits <= 64)?;
    Some(((value.as_u64()? << shift) as i64) >> shift)
}
