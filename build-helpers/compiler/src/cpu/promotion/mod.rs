//! Promotion of shared memory to registers.
//!
//! Needs: code that is specialised on the block size, in which each vector of threads has code of its
//! own, so that most addresses of shared memory are constants. Guarantees: either all accesses are
//! rewritten or none.
//!
//! Shared memory is split into pieces of a vector's elements each, as LLVM's
//! [SROA](https://llvm.org/docs/Passes.html#sroa-scalar-replacement-of-aggregates) splits aggregates, which
//! LLVM promotes to
//! registers. An access that takes lanes from other places than their own becomes a permutation.

mod access;

use std::collections::BTreeMap;

use kernelmill_llvm::ir::{Block, Builder, Opcode, Type, TypeKind, Value};

use super::vectorize::OWN_MEMORY;
use crate::passes::entry::Unit;
use access::{Access, Accesses, What, lanes_of};

/// One access in so many may be of a single element: those are faster in memory.
const SCALARS: usize = 4;

/// Splits the shared memory of a function for vectors of `lanes` threads, if all of its accesses are
/// known.
pub(super) fn promote<'c>(
    unit: &Unit<'_, 'c>,
    function: Value<'c>,
    lanes: u32,
    size: &dyn Fn(Type<'c>) -> u64,
) -> bool {
    let entry = function.blocks()[0];
    let is_own = |value: &Value<'_>| value.opcode() == Opcode::Alloca && value.name() == OWN_MEMORY;
    let Some(memory) = entry.instructions().into_iter().find(is_own) else { return false };
    let mut found = Accesses { size, accesses: Vec::new(), chain: Vec::new() };
    if found.follow(memory, &[0]).is_none() {
        return false;
    }
    let Some(element) = found.element() else { return false };
    let bytes = memory.allocated_type().array_length();
    let mut pieces = Pieces {
        unit,
        builder: Builder::new(unit.context),
        entry,
        lanes,
        element,
        elements: (bytes / element) as i64,
        slots: BTreeMap::new(),
    };
    let accesses: Vec<_> = found
        .accesses
        .iter()
        .map(|access| access.elements(element))
        .collect::<Option<_>>()
        .unwrap_or_default();
    let scalars = accesses.iter().filter(|access| access.ty.lanes().is_none()).count();
    let pays = SCALARS * scalars < accesses.len();
    if !pays || !accesses.iter().all(|access| pieces.can(access)) {
        return false;
    }
    accesses.iter().for_each(|access| pieces.rewrite(access));
    for address in found.chain.into_iter().rev().filter(|address| !address.is_used()) {
        address.erase();
    }
    true
}

/// Shared memory in pieces.
struct Pieces<'u, 'a, 'c> {
    unit: &'u Unit<'a, 'c>,
    builder: Builder<'c>,
    entry: Block<'c>,
    /// The elements of a piece.
    lanes: u32,
    /// The bytes of an element.
    element: u64,
    /// All of them.
    elements: i64,
    /// The stack slot of each piece.
    slots: BTreeMap<i64, Value<'c>>,
}

/// Places in pieces: for each lane of a vector, or none.
type Places = Vec<Option<(i64, u32)>>;

impl<'c> Pieces<'_, '_, 'c> {
    /// Whether an access can become one of pieces.
    fn can(&self, access: &Access<'c>) -> bool {
        let is_load = access.what == What::Load;
        let places = self.places(access);
        let twice = (0..places.len())
            .any(|lane| places[lane].is_some() && places[..lane].contains(&places[lane]));
        let open = (0..places.len()).any(|lane| access.takes_part(lane).is_none());
        let unclear = open && access.mask.is_some_and(Value::is_constant);
        places.len() <= self.lanes as usize && !unclear && (is_load || !(twice && open))
    }

    /// Where the lanes are that may take part; one outside of memory does not.
    fn places(&self, access: &Access<'c>) -> Places {
        let lanes = i64::from(self.lanes);
        let place = |(lane, place): (usize, &i64)| {
            let inside = (0..self.elements).contains(place);
            let takes_part = access.takes_part(lane) != Some(false);
            (inside && takes_part).then(|| (place / lanes, (place % lanes) as u32))
        };
        access.places.iter().enumerate().map(place).collect()
    }

    fn piece(&self) -> Type<'c> {
        Type::int(self.unit.context, 8 * self.element as u32).vector(self.lanes)
    }

    fn slot(&mut self, piece: i64) -> Value<'c> {
        let ty = self.piece();
        let (context, entry) = (self.unit.context, self.entry);
        *self.slots.entry(piece).or_insert_with(|| {
            let builder = Builder::new(context);
            builder.before(entry.instructions()[0]);
            builder.alloca(ty)
        })
    }

    fn shuffle(&self, left: Value<'c>, right: Value<'c>, lanes: &[Option<u32>]) -> Value<'c> {
        self.builder.shuffle(self.unit.context, left, right, lanes)
    }

    fn rewrite(&mut self, access: &Access<'c>) {
        self.builder.before(access.instruction);
        let places = self.places(access);
        match access.what {
            What::Load => {
                let all = self.load(&places);
                let mut value = self.narrow(all, access.ty);
                if let Some(mask) = access.mask {
                    // The third argument is what lanes get that do not take part.
                    let passed = access.instruction.masked_access().and_then(|it| it.passed);
                    if let Some(passed) = passed.filter(|it| !it.is_undefined()) {
                        value = self.builder.select(mask, value, passed);
                    }
                }
                access.instruction.replace_with(value);
            }
            What::Store => {
                let all = self.widen(access.instruction.operand(0));
                self.store(all, &places, access.mask);
            }
        }
        access.instruction.erase();
    }

    /// The elements at these places, as the lanes of a piece.
    fn load(&mut self, places: &Places) -> Value<'c> {
        let ty = self.piece();
        let mut pieces: Vec<_> = places.iter().flatten().map(|(piece, _)| *piece).collect();
        pieces.sort_unstable();
        pieces.dedup();
        let mut all: Option<Value<'c>> = None;
        for piece in pieces {
            let slot = self.slot(piece);
            let from = self.builder.load(ty, slot);
            let lane = |lane: u32| match places.get(lane as usize).copied().flatten() {
                Some((of, place)) if of == piece => Some(place),
                _ => None,
            };
            all = Some(match all {
                None => {
                    let lanes: Vec<_> = (0..self.lanes).map(lane).collect();
                    self.shuffle(from, ty.poison(), &lanes)
                }
                Some(all) => {
                    let take =
                        |number: u32| Some(lane(number).map_or(number, |at| self.lanes + at));
                    let lanes: Vec<_> = (0..self.lanes).map(take).collect();
                    self.shuffle(all, from, &lanes)
                }
            });
        }
        all.unwrap_or_else(|| ty.poison())
    }

    /// Writes the lanes of a piece to these places, where the mask is.
    fn store(&mut self, all: Value<'c>, places: &Places, mask: Option<Value<'c>>) {
        let ty = self.piece();
        let mask = mask.filter(|mask| !mask.is_constant()).map(|mask| self.widen_mask(mask));
        let mut pieces: Vec<_> = places.iter().flatten().map(|(piece, _)| *piece).collect();
        pieces.sort_unstable();
        pieces.dedup();
        for piece in pieces {
            // Of lanes at one place the last one is the last to write.
            let from = |at: u32| places.iter().rposition(|place| *place == Some((piece, at)));
            let from: Vec<_> = (0..self.lanes).map(|at| from(at).map(|lane| lane as u32)).collect();
            let slot = self.slot(piece);
            let old = self.builder.load(ty, slot);
            let new = match mask {
                None => {
                    let take = |(at, from): (usize, &Option<u32>)| {
                        Some(from.map_or(at as u32, |lane| self.lanes + lane))
                    };
                    let lanes: Vec<_> = from.iter().enumerate().map(take).collect();
                    self.shuffle(old, all, &lanes)
                }
                Some(mask) => {
                    let new = self.shuffle(all, ty.poison(), &from);
                    let take = |from: &Option<u32>| Some(from.unwrap_or(self.lanes));
                    let lanes: Vec<_> = from.iter().map(take).collect();
                    let mask = self.shuffle(mask, mask.ty().null(), &lanes);
                    self.builder.select(mask, new, old)
                }
            };
            self.builder.store(new, slot);
        }
    }

    /// The first lanes of a piece, as what an access is of.
    fn narrow(&self, all: Value<'c>, ty: Type<'c>) -> Value<'c> {
        let count = lanes_of(ty);
        if ty.kind() != TypeKind::Vector {
            let first = Type::int(self.unit.context, 32).constant(0);
            let number = self.builder.lane(all, first);
            return self.cast(number, ty);
        }
        let lanes: Vec<_> = (0..count).map(Some).collect();
        let all =
            if count == self.lanes { all } else { self.shuffle(all, all.ty().poison(), &lanes) };
        self.cast(all, ty)
    }

    /// What is written, as the first lanes of a piece.
    fn widen(&self, value: Value<'c>) -> Value<'c> {
        let (ty, count) = (value.ty(), lanes_of(value.ty()));
        let number = Type::int(self.unit.context, 8 * self.element as u32);
        if ty.kind() != TypeKind::Vector {
            let first = Type::int(self.unit.context, 32).constant(0);
            let value = self.cast(value, number);
            return self.builder.set_lane(self.piece().poison(), value, first);
        }
        let value = self.cast(value, number.vector(count));
        let lanes: Vec<_> = (0..self.lanes).map(|lane| (lane < count).then_some(lane)).collect();
        if count == self.lanes { value } else { self.shuffle(value, value.ty().poison(), &lanes) }
    }

    /// The mask of an access, as one of a piece.
    fn widen_mask(&self, mask: Value<'c>) -> Value<'c> {
        let count = lanes_of(mask.ty());
        let lanes: Vec<_> = (0..self.lanes).map(|lane| Some(lane.min(count))).collect();
        if count == self.lanes { mask } else { self.shuffle(mask, mask.ty().null(), &lanes) }
    }

    fn cast(&self, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        if value.ty() == ty { value } else { self.builder.cast(Opcode::BitCast, value, ty) }
    }
}
