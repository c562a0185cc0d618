//! Which tools changed their place among those that stayed. Knows places alone. Start at [`moved`].

use std::collections::HashSet;

use super::rename::Pairs;

/// The old places of the fewest tools whose move explains the new order.
pub(super) fn moved(pairs: &Pairs) -> HashSet<usize> {
    let (old, new): (Vec<usize>, Vec<usize>) = pairs.in_old_order().unzip();
    let stayed = longest_rising(&new);
    old.iter().enumerate().filter(|(at, _)| !stayed.contains(at)).map(|(_, place)| *place).collect()
}

/// The indices of a longest rising run of distinct numbers, gaps allowed.
fn longest_rising(numbers: &[usize]) -> HashSet<usize> {
    // For each length, the index of the smallest number that ends a run of that length.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (at, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers.get(*end) < Some(number));
        previous.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let last = ends.last().copied();
    std::iter::successors(last, |at| previous.get(*at).copied().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_number_that_moved_leaves_the_others_where_they_are() {
        assert_eq!(longest_rising(&[]), HashSet::new());
        assert_eq!(longest_rising(&[0, 1, 2]), HashSet::from([0, 1, 2]));
        assert_eq!(longest_rising(&[3, 0, 1, 2]), HashSet::from([1, 2, 3]));
        assert_eq!(longest_rising(&[1, 2, 3, 0]), HashSet::from([0, 1, 2]));
        assert_eq!(longest_rising(&[2, 1, 0]).len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn the_run_rises_and_none_is_longer(numbers in Just((0_usize..7).collect::<Vec<_>>()).prop_shuffle()) {
            let found = longest_rising(&numbers);
            let rises = |chosen: &[usize]| chosen.windows(2).all(|pair| pair[0] < pair[1]);
            let pick = |mask: u32| -> Vec<usize> {
                (0..numbers.len()).filter(|at| mask & (1 << at) != 0).map(|at| numbers[at]).collect()
            };
            let mask = found.iter().fold(0_u32, |mask, at| mask | (1 << at));
            prop_assert!(rises(&pick(mask)));
            let longest = (0..1_u32 << numbers.len()).filter(|mask| rises(&pick(*mask))).map(u32::count_ones).max();
            prop_assert_eq!(Some(found.len() as u32), longest);
        }
    }
}
