//! Every contestant computes what it should, on small inputs.

use crate::{Scale, Setup, Who, kernels};

#[test]
fn every_contestant_is_right() {
    let setup = Setup::open(Scale::Small).expect("kernels for the CPU");
    assert_eq!(kernels::ALL.len(), 13);
    for new in kernels::ALL.iter().chain(kernels::MORE) {
        let mut case = new(&setup).expect("a case");
        let takes_part = |who| case.contestants.iter().any(|(other, _)| *other == who);
        let mut needed = Who::OURS.into_iter().chain([Who::Rayon]);
        assert!(needed.all(takes_part), "{}", case.name);
        case.verify().expect("the same result");
    }
}
