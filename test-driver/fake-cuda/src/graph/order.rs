//! The order that the nodes of a graph can be done in.

use super::node::Step;

/// An order in which every node comes after those it waits for; `None` where there is a circle.
///
/// Of the nodes that could be next it is the one added last, so that a program which forgot a
/// dependency does not get the order in which it added its nodes.
pub(super) fn topological(nodes: &[Step]) -> Option<Vec<usize>> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut placed = vec![false; nodes.len()];
    while order.len() < nodes.len() {
        let is_next = |index: &usize| {
            !placed[*index] && nodes[*index].after.iter().all(|&other| placed[other])
        };
        let index = (0..nodes.len()).rev().find(is_next)?;
        placed[index] = true;
        order.push(index);
    }
    Some(order)
}

/// All nodes that are among `last` or come before one of them.
pub(super) fn reached(nodes: &[Step], last: &[usize]) -> Vec<bool> {
    let mut reached = vec![false; nodes.len()];
    let mut open = last.to_vec();
    while let Some(index) = open.pop() {
        if !std::mem::replace(&mut reached[index], true) {
            open.extend(&nodes[index].after);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;

    fn nodes(after: &[&[usize]]) -> Vec<Step> {
        after.iter().map(|after| Step::new(Work::Nothing, after.to_vec())).collect()
    }

    #[test]
    fn nodes_come_after_those_they_wait_for() {
        assert_eq!(topological(&nodes(&[&[2], &[], &[1]])), Some(vec![1, 2, 0]));
        assert_eq!(topological(&nodes(&[&[1], &[0]])), None);
        assert_eq!(topological(&[]), Some(vec![]));
    }

    #[test]
    fn nodes_that_wait_for_nothing_come_in_the_other_order() {
        assert_eq!(topological(&nodes(&[&[], &[], &[0]])), Some(vec![1, 0, 2]));
    }

    #[test]
    fn what_is_not_joined_is_not_reached() {
        let nodes = nodes(&[&[], &[0], &[0], &[1]]);
        assert_eq!(reached(&nodes, &[3]), [true, true, false, true]);
    }
}
