//! Automatic differentiation of functions in LLVM's intermediate representation, in forward and in
//! reverse mode.
//!
//! [`plugin()`] is the plugin of kernelmill's compiler that handles `autodiff!` in kernels. A
//! [`Session`] works in one module: [`Session::differentiate`] takes a function by its symbol and an
//! [`Activity`] for each parameter, and adds a function that computes the derivative.
//!
//! Stages of a derivative:
//!
//! 1. `plugin` reads the calls that `autodiff!` writes, and requests derivatives from a session.
//! 2. `prepare` makes a copy of the function in canonical form.
//! 3. `analysis` finds the control flow, the memory, the activity of values and the loops of the copy,
//!    and everything that is unsupported. Nothing has been written so far.
//! 4. `signature` declares the derivative.
//! 5. `forward` or `reverse` writes its body, by the rules of `rules`, with `shadow` for pointers.
//! 6. The session verifies and optimises it, and the plugin replaces the calls.
//!
//! The method is that of Enzyme: W. Moses and V. Churavy, "Instead of Rewriting Foreign Code for Machine
//! Learning, Automatically Synthesize Fast Gradients" (NeurIPS 2020); the terms are those of A. Griewank
//! and A. Walther, "Evaluating Derivatives" (2nd edition, 2008). `docs/src/guide/autodiff.md` has the rules and the
//! unsupported features, `docs/src/adr/0014-derivatives.md` the decisions.
//!
//! ```no_run
//! use kernelmill_autodiff::{Activity, Mode, Request, Rules, Session};
//! use kernelmill_llvm::{Library, inkwell::context::Context, ir::parse_ir, machine::Machine};
//!
//! Library::open("/usr/lib/llvm-22/lib/libLLVM.so".as_ref())?;
//! let machine = Machine::new("x86_64-unknown-linux-gnu", "x86-64", "", true)?;
//! let context = Context::create();
//! let text = "define double @square(double %x) {
//!   %y = fmul double %x, %x
//!   ret double %y
//! }";
//! let module = parse_ir(&context, text, machine.data_layout(), machine.triple())?;
//! let rules = Rules::default();
//! let session = Session::new(&context, &module, &machine, &rules);
//! // double derivative(double x, double seed), which gives 2 x seed
//! let mut request = Request::new("square", Mode::Reverse, &[Activity::Active]);
//! request.keep_result = false;
//! let derivative = session.differentiate(&request)?;
//! assert_eq!(derivative.symbol, "__kernelmill_derivative_reverse_square");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analysis;
mod call_graph;
mod copier;
mod error;
mod forward;
mod number_webs;
mod plugin;
mod prepare;
mod request;
mod reverse;
mod rules;
mod session;
mod shadow;
mod signature;
mod unit;

pub use error::{Error, Unsupported};
pub use plugin::{Autodiff, plugin};
pub use request::{Activity, Derivative, Mode, Request, Tape, TapeLimit};
pub use rules::{Rules, rules_as_markdown};
pub use session::Session;
