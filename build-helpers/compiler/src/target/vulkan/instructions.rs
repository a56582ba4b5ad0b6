//! Instructions of LLVM's as expressions and statements of WGSL.

use kernelmill_llvm::ir::{AtomicOperation, FloatPredicate, IntPredicate, Opcode, Value};

use super::{
    calls,
    kernel::{Kernel, NULL, Problem},
    memory::Memory,
    scalars::{Scalar, low_word},
    vectors,
};

impl<'c> Kernel<'_, 'c> {
    /// Writes an instruction.
    pub(super) fn instruction(&mut self, it: Value<'c>) -> Result<(), Problem> {
        if vectors::is_of_vectors(it) {
            return self.vector(it);
        }
        if let Some(pointer) = self.of_several(it) {
            return self.for_each_memory(it, pointer);
        }
        let expression = match it.opcode() {
            Opcode::Ret | Opcode::Br | Opcode::CondBr | Opcode::Unreachable | Opcode::Alloca => {
                return Ok(());
            }
            Opcode::Phi => self.given(it),
            Opcode::Load => return self.load(it),
            Opcode::Store => return self.store(it),
            Opcode::AtomicRmw => return self.update(it),
            Opcode::AtomicCmpXchg => return self.exchange(it),
            Opcode::Call => return calls::write(self, it),
            Opcode::ExtractValue => match *it.indices() {
                [index] => self.field(it.operand(0), index)?,
                _ => return Err(self.of_type(it.operand(0).ty())),
            },
            Opcode::InsertValue => return self.insert(it),
            Opcode::GetElementPtr => self.element(it)?,
            Opcode::AddrSpaceCast | Opcode::Freeze => self.operand(it.operand(0))?,
            Opcode::IntToPtr if self.memory(it) == Memory::Record => "0u".to_owned(),
            Opcode::Select => {
                let [condition, yes, no] = [0, 1, 2].map(|at| self.operand(it.operand(at)));
                format!("select({}, {}, {})", no?, yes?, condition?)
            }
            Opcode::ICmp => self.compare(it)?,
            Opcode::FCmp => self.compare_floats(it)?,
            Opcode::FNeg => format!("-({})", self.operand(it.operand(0))?),
            opcode if opcode_of_cast(opcode) => self.cast(it)?,
            opcode => self.arithmetic(it, opcode)?,
        };
        self.define(it, &expression);
        self.define_tag(it)
    }

    fn scalar(&self, value: Value<'c>) -> Result<Scalar, Problem> {
        Scalar::of(value.ty()).ok_or_else(|| self.of_type(value.ty()))
    }

    fn arithmetic(&mut self, it: Value<'c>, opcode: Opcode) -> Result<String, Problem> {
        let scalar = self.scalar(it)?;
        let (a, b) = (self.operand(it.operand(0))?, self.operand(it.operand(1))?);
        let is_bool = scalar == Scalar::Bool;
        let count = |b: &str| if scalar == Scalar::Long { low_word(b) } else { b.to_owned() };
        Ok(match opcode {
            Opcode::Add | Opcode::Sub | Opcode::Xor if is_bool => format!("({a} != {b})"),
            Opcode::Mul | Opcode::And if is_bool => format!("({a} & {b})"),
            Opcode::Add => scalar.cut(&format!("{a} + {b}")),
            Opcode::Sub => scalar.cut(&format!("{a} - {b}")),
            Opcode::Mul => scalar.cut(&format!("{a} * {b}")),
            Opcode::And => format!("({a} & {b})"),
            Opcode::Or => format!("({a} | {b})"),
            Opcode::Xor => format!("({a} ^ {b})"),
            Opcode::UDiv => format!("({a} / {b})"),
            Opcode::URem => format!("({a} % {b})"),
            Opcode::SDiv => {
                scalar.unsigned(&format!("{} / {}", scalar.signed(&a), scalar.signed(&b)))
            }
            Opcode::SRem => {
                scalar.unsigned(&format!("{} % {}", scalar.signed(&a), scalar.signed(&b)))
            }
            Opcode::Shl => scalar.cut(&format!("{a} << {}", count(&b))),
            Opcode::LShr => format!("({a} >> {})", count(&b)),
            Opcode::AShr => scalar.unsigned(&format!("{} >> {}", scalar.signed(&a), count(&b))),
            Opcode::FAdd => format!("({a} + {b})"),
            Opcode::FSub => format!("({a} - {b})"),
            Opcode::FMul => format!("({a} * {b})"),
            Opcode::FDiv => format!("({a} / {b})"),
            Opcode::FRem => {
                return Err(Problem::new("computes a remainder of floating-point numbers"));
            }
            Opcode::Fence => return Err(Problem::new("uses a memory fence")),
            other => return Err(Problem::new(format!("uses LLVM's instruction `{other:?}`"))),
        })
    }

    fn compare(&mut self, it: Value<'c>) -> Result<String, Problem> {
        let (left, right) = (it.operand(0), it.operand(1));
        let scalar = self.scalar(left)?;
        if scalar == Scalar::Pointer {
            return self.compare_pointers(it, left, right);
        }
        let (a, b) = (self.operand(left)?, self.operand(right)?);
        let predicate = it.int_predicate();
        if scalar == Scalar::Bool && !matches!(predicate, IntPredicate::Eq | IntPredicate::Ne) {
            let (a, b) = (format!("select(0u, 1u, {a})"), format!("select(0u, 1u, {b})"));
            let signs = matches!(
                predicate,
                IntPredicate::Sgt | IntPredicate::Sge | IntPredicate::Slt | IntPredicate::Sle
            );
            // As a signed number, true is -1.
            let (a, b) = if signs { (b, a) } else { (a, b) };
            return Ok(format!("({a} {} {b})", sign(predicate)));
        }
        Ok(match predicate {
            IntPredicate::Sgt | IntPredicate::Sge | IntPredicate::Slt | IntPredicate::Sle => {
                format!("({} {} {})", scalar.signed(&a), sign(predicate), scalar.signed(&b))
            }
            _ => format!("({a} {} {b})", sign(predicate)),
        })
    }

    fn compare_pointers(
        &mut self,
        it: Value<'c>,
        left: Value<'c>,
        right: Value<'c>,
    ) -> Result<String, Problem> {
        let memories = [left, right].map(|it| self.memory(it));
        let is_same = memories[0] == memories[1] && !matches!(memories[0], Memory::Several(_));
        let (a, b) = match is_same || memories.contains(&Memory::Nowhere) {
            true => (self.operand(left)?, self.operand(right)?),
            false => (self.address(left)?, self.address(right)?),
        };
        Ok(format!("({a} {} {b})", sign(it.int_predicate())))
    }

    /// A number that stands for the address of a pointer: its low word is the offset, so that it is aligned as that is. No two
    /// memories have one together, and that of a null pointer is 0.
    pub(super) fn address(&mut self, pointer: Value<'c>) -> Result<String, Problem> {
        let (tag, offset) = (self.tag(pointer), self.operand(pointer)?);
        let address = format!("long_of({offset}, {tag})");
        Ok(format!("select({address}, 0lu, {offset} == {NULL}u)"))
    }

    fn compare_floats(&mut self, it: Value<'c>) -> Result<String, Problem> {
        let scalar = self.scalar(it.operand(0))?;
        let (a, b) = (self.operand(it.operand(0))?, self.operand(it.operand(1))?);
        let nan = |x: &str| format!("is_nan{}({x})", scalar.bits());
        let unordered = format!("({} || {})", nan(&a), nan(&b));
        use FloatPredicate as Is;
        Ok(match it.float_predicate() {
            Is::False => "false".to_owned(),
            Is::True => "true".to_owned(),
            Is::Ord => format!("!{unordered}"),
            Is::Uno => unordered,
            Is::Oeq => format!("({a} == {b})"),
            Is::Ogt => format!("({a} > {b})"),
            Is::Oge => format!("({a} >= {b})"),
            Is::Olt => format!("({a} < {b})"),
            Is::Ole => format!("({a} <= {b})"),
            Is::One => format!("(({a} < {b}) || ({a} > {b}))"),
            Is::Ueq => format!("!(({a} < {b}) || ({a} > {b}))"),
            Is::Ugt => format!("!({a} <= {b})"),
            Is::Uge => format!("!({a} < {b})"),
            Is::Ult => format!("!({a} >= {b})"),
            Is::Ule => format!("!({a} > {b})"),
            Is::Une => format!("!({a} == {b})"),
            Is::Unknown(_) => {
                return Err(Problem::new("uses a comparison that kernelmill does not know"));
            }
        })
    }

    fn cast(&mut self, it: Value<'c>) -> Result<String, Problem> {
        let (from, to) = (self.scalar(it.operand(0))?, self.scalar(it)?);
        let a = self.operand(it.operand(0))?;
        let integer = |signed: bool| match (to, signed) {
            (Scalar::Long, true) => format!("bitcast<u64>(i64({a}))"),
            (Scalar::Long, false) => format!("u64({a})"),
            (_, true) => to.cut(&format!("bitcast<u32>(i32({a}))")),
            _ => to.cut(&format!("u32({a})")),
        };
        Ok(match it.opcode() {
            Opcode::Trunc => {
                let word = if from == Scalar::Long { low_word(&a) } else { a.clone() };
                match to {
                    Scalar::Bool => format!("(({word} & 1u) != 0u)"),
                    _ => to.cut(&word),
                }
            }
            Opcode::ZExt => match (from, to) {
                (Scalar::Bool, _) => format!("select({}, {}, {a})", to.number(0), to.number(1)),
                (_, Scalar::Long) => format!("u64({a})"),
                _ => a,
            },
            Opcode::SExt => match (from, to) {
                (Scalar::Bool, _) => {
                    format!("select({}, {}, {a})", to.number(0), to.number(to.mask()))
                }
                (_, Scalar::Long) => format!("bitcast<u64>(i64({}))", from.signed(&a)),
                _ => to.unsigned(&from.signed(&a)),
            },
            Opcode::FPToSI => integer(true),
            Opcode::FPToUI => integer(false),
            Opcode::UIToFP if from == Scalar::Bool => {
                format!("{}(select(0u, 1u, {a}))", to.wgsl())
            }
            Opcode::UIToFP => format!("{}({a})", to.wgsl()),
            Opcode::SIToFP => format!("{}({})", to.wgsl(), from.signed(&a)),
            Opcode::FPTrunc | Opcode::FPExt => format!("{}({a})", to.wgsl()),
            Opcode::BitCast if from == to => a,
            Opcode::BitCast if from.bits() == to.bits() => {
                format!("bitcast<{}>({a})", to.wgsl())
            }
            Opcode::PtrToInt | Opcode::PtrToAddr => {
                let address = self.address(it.operand(0))?;
                match to {
                    Scalar::Long => address,
                    _ => to.cut(&format!("u32({address})")),
                }
            }
            Opcode::IntToPtr => return Err(Problem::new("converts an integer to a pointer")),
            other => return Err(Problem::new(format!("uses LLVM's instruction `{other:?}`"))),
        })
    }

    fn load(&mut self, it: Value<'c>) -> Result<(), Problem> {
        let scalar = self.scalar(it)?;
        let place = self.place(it.operand(0), u64::from(it.alignment()))?;
        if it.is_used() {
            let value = self.read(&place, scalar)?;
            self.define(it, &value);
        }
        Ok(())
    }

    fn store(&mut self, it: Value<'c>) -> Result<(), Problem> {
        let scalar = self.scalar(it.operand(0))?;
        if scalar == Scalar::Pointer {
            return Err(Problem::new("writes a pointer to memory"));
        }
        let value = self.operand(it.operand(0))?;
        let place = self.place(it.operand(1), u64::from(it.alignment()))?;
        self.write(&place, scalar, &value)
    }

    /// The word of an atomic operation.
    pub(super) fn atomic_word(
        &mut self,
        pointer: Value<'c>,
        ty: Scalar,
    ) -> Result<String, Problem> {
        let place = self.place(pointer, ty.bytes())?;
        if !self.is_atomic(place.memory) {
            return Err(Problem::new("uses an atomic operation on memory of its own thread"));
        }
        let shift = match (ty.bits(), self.is_wide(place.memory)) {
            (64, true) => 3,
            (32, false) => 2,
            (32, true) => {
                return Err(Problem::new(
                    "uses atomic operations of 32 and of 64 bits on one buffer",
                ));
            }
            (bits, _) => {
                return Err(Problem::new(format!("uses an atomic operation of {bits} bits")));
            }
        };
        let index = self.keep(&format!("({} >> {shift}u)", place.offset));
        Ok(self.word(place.memory, &index))
    }

    fn update(&mut self, it: Value<'c>) -> Result<(), Problem> {
        let scalar = self.scalar(it)?;
        let word = self.atomic_word(it.operand(0), scalar)?;
        let value = self.operand(it.operand(1))?;
        let operand = scalar.to_bits(&value);
        let Some(operation) = it.atomic_operation() else {
            return Err(Problem::new("uses a volatile atomic operation"));
        };
        let function = match operation {
            AtomicOperation::Xchg => "atomicExchange",
            AtomicOperation::Add => "atomicAdd",
            AtomicOperation::Sub => "atomicSub",
            AtomicOperation::And => "atomicAnd",
            AtomicOperation::Or => "atomicOr",
            AtomicOperation::Xor => "atomicXor",
            AtomicOperation::UMax => "atomicMax",
            AtomicOperation::UMin => "atomicMin",
            AtomicOperation::Max => return self.signed_update(it, &word, ("max", &operand)),
            AtomicOperation::Min => return self.signed_update(it, &word, ("min", &operand)),
            other => return Err(Problem::new(format!("uses the atomic operation `{other:?}`"))),
        };
        let expression = scalar.of_bits(&format!("{function}(&{word}, {operand})"));
        match it.is_used() {
            true => self.define(it, &expression),
            false => self.line(&format!("{function}(&{word}, {operand});")),
        }
        Ok(())
    }

    /// The larger or smaller of two signed numbers: words are unsigned, so theirs are exchanged until none comes between.
    fn signed_update(
        &mut self,
        it: Value<'c>,
        word: &str,
        (function, operand): (&str, &str),
    ) -> Result<(), Problem> {
        let name = self.new_name("old");
        let scalar = self.scalar(it)?;
        self.local(&name, scalar.wgsl());
        self.line(&format!("{name} = atomicLoad(&{word});"));
        self.line("loop {");
        let (old, operand) = (scalar.signed(&name), scalar.signed(operand));
        let new = scalar.unsigned(&format!("{function}({old}, {operand})"));
        let result = self.new_name("r");
        self.line(&format!("let {result} = atomicCompareExchangeWeak(&{word}, {name}, {new});"));
        self.line(&format!("if {result}.exchanged {{ break; }}"));
        self.line(&format!("{name} = {result}.old_value;"));
        self.line("}");
        self.define(it, &name);
        Ok(())
    }

    fn exchange(&mut self, it: Value<'c>) -> Result<(), Problem> {
        let scalar = self.scalar(it.operand(1))?;
        let word = self.atomic_word(it.operand(0), scalar)?;
        let (expected, new) = (self.operand(it.operand(1))?, self.operand(it.operand(2))?);
        let (expected, new) = (scalar.to_bits(&expected), scalar.to_bits(&new));
        let (old, done) = (self.new_name("old"), self.new_name("done"));
        self.local(&old, if scalar.bits() == 64 { "u64" } else { "u32" });
        self.local(&done, "bool");
        self.line("loop {");
        let result = self.new_name("r");
        let call = format!("atomicCompareExchangeWeak(&{word}, {expected}, {new})");
        self.line(&format!("let {result} = {call};"));
        self.line(&format!("{old} = {result}.old_value;"));
        self.line(&format!("{done} = {result}.exchanged;"));
        self.line(&format!("if {done} || {old} != {expected} {{ break; }}"));
        self.line("}");
        self.define_fields(it, &[(scalar, scalar.of_bits(&old)), (Scalar::Bool, done)]);
        Ok(())
    }

    fn insert(&mut self, it: Value<'c>) -> Result<(), Problem> {
        let (aggregate, value) = (it.operand(0), it.operand(1));
        let types = it.ty();
        if types.kind() != kernelmill_llvm::ir::TypeKind::Struct {
            return Err(self.of_type(types));
        }
        let [changed] = *it.indices() else { return Err(self.of_type(types)) };
        let mut fields = Vec::new();
        for (index, ty) in (0..).zip(types.fields()) {
            let scalar = Scalar::of(ty).ok_or_else(|| self.of_type(ty))?;
            let expression = match () {
                () if index == changed => self.operand(value)?,
                () if aggregate.is_undefined() => scalar.zero(),
                () => self.field(aggregate, index)?,
            };
            fields.push((scalar, expression));
        }
        self.define_fields(it, &fields);
        Ok(())
    }
}

fn opcode_of_cast(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Trunc
            | Opcode::ZExt
            | Opcode::SExt
            | Opcode::FPToUI
            | Opcode::FPToSI
            | Opcode::UIToFP
            | Opcode::SIToFP
            | Opcode::FPTrunc
            | Opcode::FPExt
            | Opcode::PtrToInt
            | Opcode::PtrToAddr
            | Opcode::IntToPtr
            | Opcode::BitCast
    )
}

/// The operator of a comparison.
fn sign(predicate: IntPredicate) -> &'static str {
    match predicate {
        IntPredicate::Eq => "==",
        IntPredicate::Ne => "!=",
        IntPredicate::Ugt | IntPredicate::Sgt => ">",
        IntPredicate::Uge | IntPredicate::Sge => ">=",
        IntPredicate::Ult | IntPredicate::Slt => "<",
        IntPredicate::Ule | IntPredicate::Sle | IntPredicate::Unknown(_) => "<=",
    }
}
