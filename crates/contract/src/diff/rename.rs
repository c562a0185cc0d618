//! Which tool of the old list is which tool of the new one: by name, and else by what only one tool on either side has.
//! Refuses to judge. Start at [`pairs`].

use std::collections::{HashMap, HashSet};

use gatelatch_protocol::digest::canonical_text;
use serde_json::{Value, json};

use crate::list::{Tool, ToolList};

/// Places of the old list and places of the new one that are the same tool.
pub(super) struct Pairs {
    new_place: Vec<Option<usize>>,
    taken: HashSet<usize>,
}

impl Pairs {
    /// Where the tool of this old place is now.
    pub(super) fn new_place(&self, old_place: usize) -> Option<usize> {
        self.new_place.get(old_place).copied().flatten()
    }

    /// Whether an old tool is at this new place.
    pub(super) fn is_taken(&self, new_place: usize) -> bool {
        self.taken.contains(&new_place)
    }

    /// The new places in the old order.
    pub(super) fn in_old_order(&self) -> impl Iterator<Item = (usize, usize)> {
        self.new_place.iter().enumerate().filter_map(|(old, new)| new.map(|new| (old, new)))
    }
}

/// Pairs the tools of two lists.
pub(super) fn pairs(old: &ToolList, new: &ToolList) -> Pairs {
    let by_name: HashMap<&str, usize> = new.tools().iter().enumerate().map(|(at, tool)| (tool.name(), at)).collect();
    let new_place: Vec<Option<usize>> = old.tools().iter().map(|tool| by_name.get(tool.name()).copied()).collect();
    let taken = new_place.iter().flatten().copied().collect();
    let mut pairs = Pairs { new_place, taken };
    // A rename that changed nothing else first, then one that left the schemas and a text alone, then the schemas only.
    for likeness in [without_name, schemas_and_description, schemas_and_title, schemas_that_say_something] {
        pair_alike(old, new, likeness, &mut pairs);
    }
    pairs
}

/// What two tools must have in common to be one; none if a tool has too little to be known by.
type Likeness = fn(&Tool) -> Option<Value>;

/// Pairs what is left where exactly one tool on either side is alike.
fn pair_alike(old: &ToolList, new: &ToolList, likeness: Likeness, pairs: &mut Pairs) {
    let gone = places_by(old, likeness, |at| pairs.new_place(at).is_none());
    let come = places_by(new, likeness, |at| !pairs.is_taken(at));
    for (key, from) in gone {
        if let ([from], Some([to])) = (from.as_slice(), come.get(&key).map(Vec::as_slice))
            && let Some(place) = pairs.new_place.get_mut(*from)
        {
            *place = Some(*to);
            pairs.taken.insert(*to);
        }
    }
}

fn places_by(list: &ToolList, likeness: Likeness, is_left: impl Fn(usize) -> bool) -> HashMap<String, Vec<usize>> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, tool) in list.tools().iter().enumerate().filter(|(at, _)| is_left(*at)) {
        if let Some(key) = likeness(tool) {
            places.entry(canonical_text(&key)).or_default().push(at);
        }
    }
    places
}

fn without_name(tool: &Tool) -> Option<Value> {
    let mut rest = tool.definition().clone();
    rest.shift_remove("name");
    let says_something = tool.definition().contains_key("description") || has_arguments(tool);
    says_something.then_some(Value::Object(rest))
}

fn schemas_and_description(tool: &Tool) -> Option<Value> {
    schemas_and(tool, "description")
}

fn schemas_and_title(tool: &Tool) -> Option<Value> {
    schemas_and(tool, "title")
}

fn schemas_and(tool: &Tool, text: &str) -> Option<Value> {
    let text = tool.definition().get(text).filter(|text| text.as_str().is_some_and(|text| !text.is_empty()))?;
    Some(json!([text, tool.definition().get("inputSchema"), tool.definition().get("outputSchema")]))
}

fn schemas_that_say_something(tool: &Tool) -> Option<Value> {
    has_arguments(tool).then(|| json!([tool.definition().get("inputSchema"), tool.definition().get("outputSchema")]))
}

/// Tools without arguments all look the same.
fn has_arguments(tool: &Tool) -> bool {
    let arguments = tool.definition().get("inputSchema").and_then(|schema| schema.get("properties"));
    arguments.and_then(Value::as_object).is_some_and(|arguments| !arguments.is_empty())
}
