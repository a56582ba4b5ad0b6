//! Control flow as a graph of numbers: dominators, post-dominators and loops.

/// A graph whose nodes are 0, 1, ...
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) successors: Vec<Vec<usize>>,
    pub(crate) predecessors: Vec<Vec<usize>>,
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) header: usize,
    /// Its nodes, the header's and inner loops' among them, sorted.
    pub(crate) nodes: Vec<usize>,
}

impl Graph {
    pub(crate) fn new(successors: Vec<Vec<usize>>) -> Self {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (node, next) in successors.iter().enumerate() {
            for &next in next {
                if !predecessors[next].contains(&node) {
                    predecessors[next].push(node);
                }
            }
        }
        Self { successors, predecessors }
    }

    pub(crate) fn len(&self) -> usize {
        self.successors.len()
    }

    /// The nodes that can be reached, each before those it leads to, save along back edges.
    pub(crate) fn reverse_post_order(&self, entry: usize) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.len()];
        let mut stack = vec![(entry, 0)];
        seen[entry] = true;
        while let Some((node, next)) = stack.pop() {
            match self.successors[node].get(next) {
                Some(&successor) => {
                    stack.push((node, next + 1));
                    if !seen[successor] {
                        seen[successor] = true;
                        stack.push((successor, 0));
                    }
                }
                None => order.push(node),
            }
        }
        order.reverse();
        order
    }

    /// The immediate dominator of each node; of the entry itself; `None` where it is not reached.
    pub(crate) fn dominators(&self, entry: usize) -> Vec<Option<usize>> {
        let order = self.reverse_post_order(entry);
        let mut place = vec![usize::MAX; self.len()];
        for (index, &node) in order.iter().enumerate() {
            place[node] = index;
        }
        let mut dominators = vec![None; self.len()];
        dominators[entry] = Some(entry);
        let mut changed = true;
        while changed {
            changed = false;
            for &node in &order[1..] {
                let known =
                    self.predecessors[node].iter().copied().filter(|&p| dominators[p].is_some());
                let new = known.reduce(|mut left, mut right| {
                    // Both walk up until they meet; the entry has place 0.
                    while left != right {
                        if place[left] < place[right] {
                            right = dominators[right].expect("it was reached");
                        } else {
                            left = dominators[left].expect("it was reached");
                        }
                    }
                    left
                });
                if new.is_some() && dominators[node] != new {
                    dominators[node] = new;
                    changed = true;
                }
            }
        }
        dominators
    }

    /// The immediate post-dominator of each node, where control ends in the nodes of `ends`;
    /// `None` where that is the end itself, or is never reached.
    pub(crate) fn post_dominators(&self, ends: &[usize]) -> Vec<Option<usize>> {
        let end = self.len();
        let mut reversed = self.predecessors.clone();
        reversed.push(ends.to_vec());
        let found = Self::new(reversed).dominators(end);
        (0..end).map(|node| found[node].filter(|&next| next != end)).collect()
    }

    /// What control can reach from `starts`, them included, without entering `stop`.
    pub(crate) fn reachable(&self, starts: &[usize], stop: Option<usize>) -> Vec<bool> {
        reach(&self.successors, starts, stop)
    }

    /// What can reach `end`, it included, without leaving the nodes that are `within`.
    pub(crate) fn reaching_within(&self, end: usize, within: &[bool]) -> Vec<bool> {
        let mut seen = vec![false; self.len()];
        let mut work = vec![end];
        while let Some(node) = work.pop() {
            if within[node] && !std::mem::replace(&mut seen[node], true) {
                work.extend(&self.predecessors[node]);
            }
        }
        seen
    }

    /// What can reach one of `ends`, them included.
    pub(crate) fn reaching(&self, ends: &[usize]) -> Vec<bool> {
        reach(&self.predecessors, ends, None)
    }

    /// The natural loops, outer ones first. A cycle that control jumps into the middle of is none.
    pub(crate) fn loops(&self, entry: usize) -> Vec<Loop> {
        let dominators = self.dominators(entry);
        let order = self.reverse_post_order(entry);
        let mut place = vec![usize::MAX; self.len()];
        for (index, &node) in order.iter().enumerate() {
            place[node] = index;
        }
        let mut loops: Vec<Loop> = Vec::new();
        for &header in &order {
            let latches: Vec<_> = self.predecessors[header]
                .iter()
                .copied()
                .filter(|&from| place[from] != usize::MAX && dominates(&dominators, header, from))
                .collect();
            if latches.is_empty() {
                continue;
            }
            let mut inside = reach(&self.predecessors, &latches, Some(header));
            inside[header] = true;
            let nodes = (0..self.len()).filter(|&n| inside[n] && place[n] != usize::MAX).collect();
            loops.push(Loop { header, nodes });
        }
        loops.sort_by_key(|found| std::cmp::Reverse(found.nodes.len()));
        loops
    }
}

/// Whether every way to `node` leads through `above`.
pub(crate) fn dominates(dominators: &[Option<usize>], above: usize, mut node: usize) -> bool {
    loop {
        if node == above {
            return true;
        }
        match dominators[node] {
            Some(next) if next != node => node = next,
            _ => return false,
        }
    }
}

fn reach(edges: &[Vec<usize>], starts: &[usize], stop: Option<usize>) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut work: Vec<_> = starts.to_vec();
    while let Some(node) = work.pop() {
        if Some(node) != stop && !std::mem::replace(&mut seen[node], true) {
            work.extend(&edges[node]);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1 -> {2, 3} -> 4 -> 1, 4 -> 5.
    fn sample() -> Graph {
        Graph::new(vec![vec![1], vec![2, 3], vec![4], vec![4], vec![1, 5], vec![]])
    }

    #[test]
    fn a_join_is_dominated_by_its_branch_and_post_dominates_it() {
        let graph = sample();
        let expected = [Some(0), Some(0), Some(1), Some(1), Some(1), Some(4)];
        assert_eq!(graph.dominators(0), expected);
        let expected = [Some(1), Some(4), Some(4), Some(4), Some(5), None];
        assert_eq!(graph.post_dominators(&[5]), expected);
        assert!(dominates(&graph.dominators(0), 1, 5));
        assert!(!dominates(&graph.dominators(0), 2, 4));
    }

    #[test]
    fn a_loop_that_never_ends_has_no_post_dominator() {
        let graph = Graph::new(vec![vec![1, 2], vec![1], vec![]]);
        assert_eq!(graph.post_dominators(&[2]), [Some(2), None, None]);
    }

    #[test]
    fn loops_are_found_outer_ones_first() {
        let graph = sample();
        let loops = graph.loops(0);
        assert_eq!(loops, [Loop { header: 1, nodes: vec![1, 2, 3, 4] }]);
        // 1 {2} within 1..=3.
        let nested = Graph::new(vec![vec![1], vec![2], vec![2, 3], vec![1, 4], vec![]]);
        let headers: Vec<_> = nested.loops(0).iter().map(|found| found.header).collect();
        assert_eq!(headers, [1, 2]);
    }

    #[test]
    fn a_jump_into_a_loop_is_no_natural_loop() {
        let graph = Graph::new(vec![vec![1, 2], vec![2], vec![1, 3], vec![]]);
        assert_eq!(graph.loops(0), []);
    }

    #[test]
    fn reaching_stops_where_it_is_told_to() {
        let reached = sample().reachable(&[2], Some(4));
        assert_eq!(reached, [false, false, true, false, false, false]);
    }
}
