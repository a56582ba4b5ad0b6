//! Derivatives of functions in LLVM's intermediate representation, in forward and in reverse mode.
//!
//! [`plugin()`] is the plugin of kernelmill's compiler that handles `autodiff!` in kernels. Below it, a
//! [`Session`] works in one module: [`Session::differentiate`] takes a function by its symbol, says
//! for each parameter what it is to the derivative ([`Activity`], with the meanings that Enzyme gave
//! the words), and adds a function that computes the derivative. `docs/src/guide/autodiff.md` has the rules and
//! what is refused, `docs/src/adr/0014-derivatives.md` why it is made this way.
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
mod copier;
mod error;
mod forward;
mod plugin;
mod prepare;
mod request;
mod reverse;
mod rules;
mod session;
mod shadow;

pub use error::{Error, Refusal};
pub use plugin::{Autodiff, plugin};
pub use request::{Activity, Derivative, Mode, Request, Tape, TapeLimit};
pub use rules::{Rules, rules_as_markdown};
pub use session::Session;
