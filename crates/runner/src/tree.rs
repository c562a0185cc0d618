//! A value that knows what went from it, and the one rule by which a value becomes smaller.
//!
//! Whole items at the end of an array go first, then the ends of texts; of an object's members those stay small that are
//! small, and only where there are too many for that, those at the end go. Owns sizes, this rule, and the totals of what
//! went. Refuses to know schemas and wire formats: what must not go is said by a [`Guard`]. Start at [`Tree::shrink`].

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde_json::{Map, Number, Value};

/// What a part of a value is always worth, where there is room for it: less than this of an item, a text or a member
/// tells nobody anything. More than any number takes.
const WORTH: usize = 64;
/// An object of more members than this is a table by name: it loses whole members at its end, as an array does items.
const TABLE: usize = 256;

/// What is counted where something went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of an array.
    Items,
    /// Of a text: Unicode characters.
    Characters,
    /// Of an object.
    Members,
}

impl Unit {
    /// Its name, as a cut result tells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Items => "items",
            Unit::Characters => "characters",
            Unit::Members => "members",
        }
    }
}

/// A place from whose end something went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where, as a JSON Pointer.
    pub at: String,
    /// How much is left.
    pub kept: u64,
    /// How much there was.
    pub of: u64,
    /// What is counted.
    pub unit: Unit,
}

/// What is missing from a value that was not held whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// The size of the whole value as compact JSON, in bytes. A member that is written twice is counted twice.
    pub bytes: u64,
    /// Where something is missing, in the value's order.
    pub places: Vec<Place>,
}

impl Shortened {
    /// The same of a value that holds this one as its member `name`, and has `around` bytes beside it.
    pub fn within(mut self, name: &str, around: u64) -> Shortened {
        let prefix = format!("/{}", escaped(name));
        for place in &mut self.places {
            place.at.insert_str(0, &prefix);
        }
        self.bytes += around;
        self
    }
}

/// One step into a value. All items of an array are one: what holds for one holds for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To an object's member.
    Member(String),
    /// To any item of an array.
    Item,
}

/// What must stay, however small a value has to become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// Nothing goes from here or from anything within.
    pub whole: bool,
    /// So many items, characters or members stay.
    pub at_least: u64,
    /// These members stay.
    pub names: BTreeSet<String>,
    members: BTreeMap<String, Guard>,
    items: Option<Box<Guard>>,
}

static NOTHING: Guard =
    Guard { whole: false, at_least: 0, names: BTreeSet::new(), members: BTreeMap::new(), items: None };

impl Guard {
    /// What must stay of a place within.
    pub fn at(&mut self, path: &[Step]) -> &mut Guard {
        path.iter().fold(self, |guard, step| match step {
            Step::Member(name) => guard.members.entry(name.clone()).or_default(),
            Step::Item => guard.items.get_or_insert_default(),
        })
    }

    fn member(&self, name: &str) -> &Guard {
        self.members.get(name).unwrap_or(&NOTHING)
    }

    fn item(&self) -> &Guard {
        self.items.as_deref().unwrap_or(&NOTHING)
    }

    fn least(&self) -> usize {
        usize::try_from(self.at_least).unwrap_or(usize::MAX)
    }
}

/// What each value and each name is counted for beside its JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale(pub(crate) usize);

impl Scale {
    /// The bytes of compact JSON.
    const JSON: Scale = Scale(0);

    /// An empty text, array or object.
    fn empty(self) -> usize {
        self.0 + 2
    }

    fn worth(self) -> usize {
        self.0 + WORTH
    }

    /// A name with its colon.
    fn name(self, name: &str) -> usize {
        self.0 + text_bytes(name) + 1
    }
}

/// A value that knows what went from it.
#[derive(Clone, Debug)]
pub struct Tree {
    root: Node,
}

impl Tree {
    /// A value and what is missing from it already. A place that is not there is passed over.
    pub fn new(value: Value, missing: &[Place]) -> Tree {
        let mut root = Node::new(value, Scale::JSON);
        for place in missing {
            if let Some(node) = root.find_mut(&place.at) {
                node.set_count(place.of);
            }
        }
        Tree { root }
    }

    /// The size of what is left as compact JSON, in bytes.
    pub fn bytes(&self) -> usize {
        self.root.size
    }

    /// The size of what is left at a JSON Pointer, and whether nothing went from there or from within.
    pub fn at(&self, pointer: &str) -> Option<(usize, bool)> {
        self.root.find(pointer).map(|node| (node.size, node.is_whole()))
    }

    /// The steps to a JSON Pointer; `None` when nothing is there.
    pub fn steps(&self, pointer: &str) -> Option<Vec<Step>> {
        let mut node = &self.root;
        let mut steps = Vec::new();
        for step in pointer_steps(pointer) {
            let is_item = matches!(node.part, Part::Array(_));
            node = node.child(&step)?;
            steps.push(if is_item { Step::Item } else { Step::Member(step) });
        }
        Some(steps)
    }

    /// Makes it at most `budget` bytes large, or as small as the guard allows.
    ///
    /// With no guard every budget of 2 bytes and more is kept, unless the root is a number.
    pub fn shrink(&mut self, budget: usize, guard: &Guard) {
        self.root.shrink(budget, guard, Scale::JSON);
    }

    /// Every place from which something went, in the value's order.
    pub fn places(&self) -> Vec<Place> {
        self.root.places()
    }

    /// What is left.
    pub fn into_value(self) -> Value {
        self.root.into_value()
    }
}

/// One value of a tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// On the tree's scale.
    pub(crate) size: usize,
    part: Part,
}

#[derive(Clone, Debug)]
enum Part {
    Plain(Plain),
    Text(Kept<String>),
    Array(Kept<Vec<Node>>),
    // Boxed: it is twice as large as the others, and most values are numbers and texts.
    Object(Box<Kept<IndexMap<String, Node>>>),
}

/// What nothing can go from.
#[derive(Clone, Debug)]
enum Plain {
    Null,
    Bool(bool),
    Number(Number),
    /// An object that had nothing in it.
    EmptyObject,
}

/// What is left of something, and how much there was.
#[derive(Clone, Debug)]
struct Kept<T> {
    kept: T,
    of: u64,
}

impl Node {
    pub(crate) fn null(scale: Scale) -> Node {
        Node { size: scale.0 + 4, part: Part::Plain(Plain::Null) }
    }

    pub(crate) fn bool(value: bool, scale: Scale) -> Node {
        Node { size: scale.0 + if value { 4 } else { 5 }, part: Part::Plain(Plain::Bool(value)) }
    }

    pub(crate) fn number(number: Number, scale: Scale) -> Node {
        Node { size: scale.0 + number_bytes(&number), part: Part::Plain(Plain::Number(number)) }
    }

    /// A text of which there were `of` characters.
    pub(crate) fn text(kept: String, of: u64, scale: Scale) -> Node {
        Node { size: scale.0 + text_bytes(&kept), part: Part::Text(Kept { kept, of }) }
    }

    pub(crate) fn array(scale: Scale) -> Node {
        Node { size: scale.empty(), part: Part::Array(Kept { kept: Vec::new(), of: 0 }) }
    }

    pub(crate) fn object(scale: Scale) -> Node {
        Node { size: scale.empty(), part: Part::Object(Box::new(Kept { kept: IndexMap::new(), of: 0 })) }
    }

    /// What stands for a member until its value is known.
    fn pending() -> Node {
        Node { size: 0, part: Part::Plain(Plain::Null) }
    }

    fn new(value: Value, scale: Scale) -> Node {
        match value {
            Value::Null => Node::null(scale),
            Value::Bool(value) => Node::bool(value, scale),
            Value::Number(number) => Node::number(number, scale),
            Value::String(text) => {
                let of = text.chars().count() as u64;
                Node::text(text, of, scale)
            }
            Value::Array(items) => {
                let mut node = Node::array(scale);
                node.reserve(items.len());
                for item in items {
                    node.count();
                    node.push(Node::new(item, scale));
                }
                node
            }
            Value::Object(members) => {
                let mut node = Node::object(scale);
                node.reserve(members.len());
                for (name, member) in members {
                    node.count();
                    if let Some((index, _)) = node.name(name, scale) {
                        node.fill(index, Node::new(member, scale));
                    }
                }
                node
            }
        }
    }

    fn reserve(&mut self, count: usize) {
        match &mut self.part {
            Part::Array(array) => array.kept.reserve_exact(count),
            Part::Object(object) => object.kept.reserve_exact(count),
            Part::Plain(_) | Part::Text(_) => {}
        }
    }

    /// One more item or member has come, kept or not.
    pub(crate) fn count(&mut self) {
        match &mut self.part {
            Part::Array(array) => array.of += 1,
            Part::Object(object) => object.of += 1,
            Part::Plain(_) | Part::Text(_) => {}
        }
    }

    fn set_count(&mut self, count: u64) {
        match &mut self.part {
            Part::Text(text) => text.of = count,
            Part::Array(array) => array.of = count,
            Part::Object(object) => object.of = count,
            Part::Plain(_) => {}
        }
    }

    /// Appends an item to an array.
    pub(crate) fn push(&mut self, item: Node) {
        if let Part::Array(array) = &mut self.part {
            self.size += item.size + usize::from(!array.kept.is_empty());
            array.kept.push(item);
        }
    }

    /// The place of an object's member of that name, and whether it is a new one. Its value is to follow.
    pub(crate) fn name(&mut self, name: String, scale: Scale) -> Option<(usize, bool)> {
        let Part::Object(object) = &mut self.part else { return None };
        if let Some(index) = object.kept.get_index_of(&name) {
            return Some((index, false));
        }
        self.size += scale.name(&name) + usize::from(!object.kept.is_empty());
        let (index, _) = object.kept.insert_full(name, Node::pending());
        Some((index, true))
    }

    /// Whether an object holds a member of that name.
    pub(crate) fn holds(&self, name: &str) -> bool {
        matches!(&self.part, Part::Object(object) if object.kept.contains_key(name))
    }

    /// Gives a member its value.
    pub(crate) fn fill(&mut self, index: usize, member: Node) {
        if let Part::Object(object) = &mut self.part
            && let Some((_, slot)) = object.kept.get_index_mut(index)
        {
            self.size = self.size + member.size - slot.size;
            *slot = member;
        }
    }

    /// The name of a member by its place.
    pub(crate) fn name_at(&self, index: usize) -> Option<&str> {
        match &self.part {
            Part::Object(object) => object.kept.get_index(index).map(|(name, _)| name.as_str()),
            _ => None,
        }
    }

    /// Takes the last item out of an array from which nothing went.
    pub(crate) fn pop(&mut self) -> Option<Node> {
        if self.lost() > 0 {
            return None;
        }
        let Part::Array(array) = &mut self.part else { return None };
        let item = array.kept.pop()?;
        self.size -= item.size + usize::from(!array.kept.is_empty());
        Some(item)
    }

    /// Takes the value of a member out; the member stays. Gives its place, too.
    pub(crate) fn take(&mut self, name: &str) -> Option<(usize, Node)> {
        let Part::Object(object) = &mut self.part else { return None };
        let (index, _, slot) = object.kept.get_full_mut(name)?;
        let member = std::mem::replace(slot, Node::pending());
        self.size -= member.size;
        Some((index, member))
    }

    /// How many items, characters or members went from here.
    pub(crate) fn lost(&self) -> u64 {
        match &self.part {
            Part::Text(text) => text.of.saturating_sub(text.kept.chars().count() as u64),
            Part::Array(array) => array.of.saturating_sub(array.kept.len() as u64),
            Part::Object(object) => object.of.saturating_sub(object.kept.len() as u64),
            Part::Plain(_) => 0,
        }
    }

    /// Gives back the room that nothing more will fill.
    pub(crate) fn close(&mut self) {
        if let Part::Object(object) = &self.part
            && object.of == 0
        {
            self.part = Part::Plain(Plain::EmptyObject);
        }
        match &mut self.part {
            Part::Array(array) => fit_items(&mut array.kept),
            Part::Object(object) => fit_members(&mut object.kept),
            Part::Plain(_) | Part::Text(_) => {}
        }
    }

    fn is_whole(&self) -> bool {
        let within = match &self.part {
            Part::Array(array) => array.kept.iter().all(Node::is_whole),
            Part::Object(object) => object.kept.values().all(Node::is_whole),
            Part::Plain(_) | Part::Text(_) => true,
        };
        within && self.lost() == 0
    }

    fn child(&self, step: &str) -> Option<&Node> {
        match &self.part {
            Part::Array(array) => array.kept.get(step.parse::<usize>().ok()?),
            Part::Object(object) => object.kept.get(step),
            Part::Plain(_) | Part::Text(_) => None,
        }
    }

    fn find(&self, pointer: &str) -> Option<&Node> {
        pointer_steps(pointer).try_fold(self, |node, step| node.child(&step))
    }

    fn find_mut(&mut self, pointer: &str) -> Option<&mut Node> {
        pointer_steps(pointer).try_fold(self, |node, step| match &mut node.part {
            Part::Array(array) => array.kept.get_mut(step.parse::<usize>().ok()?),
            Part::Object(object) => object.kept.get_mut(&step),
            Part::Plain(_) | Part::Text(_) => None,
        })
    }

    /// See [`Tree::shrink`].
    pub(crate) fn shrink(&mut self, budget: usize, guard: &Guard, scale: Scale) {
        if self.size <= budget || guard.whole {
            return;
        }
        self.size = match &mut self.part {
            Part::Plain(_) => self.size,
            Part::Text(text) => shrink_text(&mut text.kept, budget, guard, scale),
            Part::Array(array) => shrink_array(&mut array.kept, budget, guard, scale),
            Part::Object(object) => shrink_object(&mut object.kept, budget, guard, scale),
        };
    }

    /// How small it can become.
    fn floor(&self, guard: &Guard, scale: Scale) -> usize {
        if guard.whole {
            return self.size;
        }
        let floor = match &self.part {
            Part::Plain(_) => self.size,
            Part::Text(text) => {
                scale.empty() + text.kept.chars().take(guard.least()).map(character_bytes).sum::<usize>()
            }
            Part::Array(array) => {
                let must = array.kept.iter().take(guard.least());
                scale.empty() + must.map(|item| item.floor(guard.item(), scale) + 1).sum::<usize>()
            }
            Part::Object(object) => {
                let least =
                    |(name, member): (&String, &Node)| scale.name(name) + 1 + member.floor(guard.member(name), scale);
                let (named, others): (Vec<_>, Vec<_>) =
                    object.kept.iter().partition(|(name, _)| guard.names.contains(*name));
                let more = guard.least().saturating_sub(named.len());
                scale.empty() + named.into_iter().chain(others.into_iter().take(more)).map(least).sum::<usize>()
            }
        };
        floor.min(self.size)
    }

    /// See [`Tree::into_value`].
    pub(crate) fn into_value(self) -> Value {
        match self.part {
            Part::Plain(Plain::Null) => Value::Null,
            Part::Plain(Plain::Bool(value)) => Value::Bool(value),
            Part::Plain(Plain::Number(number)) => Value::Number(number),
            Part::Plain(Plain::EmptyObject) => Value::Object(Map::new()),
            Part::Text(text) => Value::String(text.kept),
            Part::Array(array) => Value::Array(array.kept.into_iter().map(Node::into_value).collect()),
            Part::Object(object) => {
                let members = object.kept.into_iter().map(|(name, member)| (name, member.into_value()));
                Value::Object(members.collect::<Map<String, Value>>())
            }
        }
    }

    /// See [`Tree::places`].
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        self.note(&mut String::new(), &mut places);
        places
    }

    fn note(&self, at: &mut String, places: &mut Vec<Place>) {
        let length = at.len();
        match &self.part {
            Part::Plain(_) => {}
            Part::Text(text) => {
                let kept = text.kept.chars().count() as u64;
                if kept < text.of {
                    places.push(Place { at: at.clone(), kept, of: text.of, unit: Unit::Characters });
                }
            }
            Part::Array(array) => {
                let kept = array.kept.len() as u64;
                if kept < array.of {
                    places.push(Place { at: at.clone(), kept, of: array.of, unit: Unit::Items });
                }
                for (index, item) in array.kept.iter().enumerate().filter(|(_, item)| !item.is_plain()) {
                    at.push_str(&format!("/{index}"));
                    item.note(at, places);
                    at.truncate(length);
                }
            }
            Part::Object(object) => {
                let kept = object.kept.len() as u64;
                if kept < object.of {
                    places.push(Place { at: at.clone(), kept, of: object.of, unit: Unit::Members });
                }
                for (name, member) in object.kept.iter().filter(|(_, member)| !member.is_plain()) {
                    at.push('/');
                    at.push_str(&escaped(name));
                    member.note(at, places);
                    at.truncate(length);
                }
            }
        }
    }

    /// Whether nothing can go from it.
    fn is_plain(&self) -> bool {
        matches!(self.part, Part::Plain(_))
    }
}

fn shrink_text(text: &mut String, budget: usize, guard: &Guard, scale: Scale) -> usize {
    let mut size = scale.empty();
    let mut end = text.len();
    for (number, (at, character)) in text.char_indices().enumerate() {
        let more = character_bytes(character);
        if size + more > budget && number >= guard.least() {
            end = at;
            break;
        }
        size += more;
    }
    *text = text[..end].to_owned();
    size
}

fn shrink_array(items: &mut Vec<Node>, budget: usize, guard: &Guard, scale: Scale) -> usize {
    let inner = guard.item();
    let must = guard.least().min(items.len());
    let floors: Vec<usize> = items[..must].iter().map(|item| item.floor(inner, scale) + 1).collect();
    let mut ahead: usize = floors.iter().sum();
    let mut used = scale.empty();
    let mut whole = 0;
    for item in items.iter() {
        ahead -= floors.get(whole).copied().unwrap_or(0);
        used += item.size + 1;
        if used + ahead > budget {
            break;
        }
        whole += 1;
    }
    if whole > 0 && whole >= must {
        items.truncate(whole);
    } else {
        // A first item that alone is too large is worth more cut than gone.
        items.truncate(must.max(usize::from(budget > scale.worth())));
        let fixed = scale.empty() + items.len();
        share(items.iter_mut().map(|item| (item, inner)).collect(), budget.saturating_sub(fixed), scale);
        if must == 0 && array_size(items, scale) > budget {
            items.clear();
        }
    }
    fit_items(items);
    array_size(items, scale)
}

fn array_size(items: &[Node], scale: Scale) -> usize {
    scale.empty() + items.iter().map(|item| item.size).sum::<usize>() + items.len().saturating_sub(1)
}

/// Small members stay whole, and the large ones share what is left in equal parts.
fn shrink_object(members: &mut IndexMap<String, Node>, budget: usize, guard: &Guard, scale: Scale) -> usize {
    let is_table = members.len() > TABLE;
    let needs = members.iter().map(|(name, member)| {
        let least = match is_table {
            true => member.size,
            false => member.floor(guard.member(name), scale).max(member.size.min(scale.worth())),
        };
        scale.name(name) + 1 + least
    });
    let needs = needs.collect();
    // A member that alone is too large is worth more cut than gone.
    trim(members, needs, budget, guard, scale, guard.least().max(usize::from(budget > scale.worth())));
    let fixed = scale.empty() + members.keys().map(|name| scale.name(name) + 1).sum::<usize>();
    let parts = members.iter_mut().map(|(name, member)| (member, guard.member(name))).collect();
    share(parts, budget.saturating_sub(fixed), scale);
    let needs = members.iter().map(|(name, member)| scale.name(name) + 1 + member.size).collect();
    trim(members, needs, budget, guard, scale, guard.least());
    fit_members(members);
    let names: usize = members.keys().map(|name| scale.name(name)).sum();
    scale.empty() + names + members.values().map(|member| member.size).sum::<usize>() + members.len().saturating_sub(1)
}

/// Takes members away until what they need is within the budget, or `left` of them are left: first those that need more
/// than there is, then those at the end. Those that must stay, stay.
fn trim(
    members: &mut IndexMap<String, Node>,
    needs: Vec<usize>,
    budget: usize,
    guard: &Guard,
    scale: Scale,
    left: usize,
) {
    let budget = budget.saturating_sub(scale.empty());
    let mut total: usize = needs.iter().sum();
    let mut stays = vec![true; needs.len()];
    let mut count = needs.len();
    for only_too_large in [true, false] {
        for (index, need) in needs.iter().enumerate().rev() {
            if total <= budget || count <= left {
                break;
            }
            let must = members.get_index(index).is_some_and(|(name, _)| guard.names.contains(name));
            if stays[index] && !must && (!only_too_large || *need > budget) {
                stays[index] = false;
                total -= need;
                count -= 1;
            }
        }
    }
    let mut stays = stays.into_iter();
    members.retain(|_, _| stays.next().unwrap_or(true));
}

/// Makes values fit into a budget together: the small ones stay whole, and the large ones get equal parts of what is
/// left, and whatever of its part one of them cannot use goes to the next.
fn share(mut parts: Vec<(&mut Node, &Guard)>, budget: usize, scale: Scale) {
    if parts.iter().map(|(node, _)| node.size).sum::<usize>() <= budget {
        return;
    }
    parts.sort_by_key(|(node, _)| node.size);
    let floors: Vec<usize> = parts.iter().map(|(node, guard)| node.floor(guard, scale)).collect();
    let taken = |level: usize| -> usize {
        parts.iter().zip(&floors).map(|((node, _), floor)| node.size.min(level).max(*floor)).sum()
    };
    // The highest level at which all of them together are within the budget.
    let (mut level, mut above) = (0, budget + 1);
    while above - level > 1 {
        let middle = level + (above - level) / 2;
        if taken(middle) <= budget {
            level = middle;
        } else {
            above = middle;
        }
    }
    let mut spare = budget.saturating_sub(taken(level));
    for ((node, guard), floor) in parts.into_iter().zip(floors) {
        let part = node.size.min(level).max(floor) + spare;
        node.shrink(part, guard, scale);
        spare = part.saturating_sub(node.size);
    }
}

/// Up to so many are moved into room of their own size: made smaller in its place, a room leaves holes that are too small
/// for what comes next, and a value that is made smaller again and again would take ever more of them.
const FEW: usize = 2048;

fn fit_items(items: &mut Vec<Node>) {
    if items.len() <= FEW && items.capacity() > items.len() {
        let mut fitting = Vec::with_capacity(items.len());
        fitting.append(items);
        *items = fitting;
    } else {
        items.shrink_to_fit();
    }
}

fn fit_members(members: &mut IndexMap<String, Node>) {
    if members.len() <= FEW && members.capacity() > members.len() {
        *members = members.drain(..).collect();
    } else {
        members.shrink_to_fit();
    }
}

/// The size of a value as compact JSON, in bytes.
pub fn json_bytes(value: &Value) -> usize {
    let between = |count: usize| 2 + count.saturating_sub(1);
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number_bytes(number),
        Value::String(text) => text_bytes(text),
        Value::Array(items) => between(items.len()) + items.iter().map(json_bytes).sum::<usize>(),
        Value::Object(members) => {
            let size = |(name, member): (&String, &Value)| text_bytes(name) + 1 + json_bytes(member);
            between(members.len()) + members.iter().map(size).sum::<usize>()
        }
    }
}

/// A text's size as JSON, with its quotes.
pub(crate) fn text_bytes(text: &str) -> usize {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x8 | 0xc => 1,
        0..0x20 => 5,
        _ => 0,
    };
    2 + text.len() + text.bytes().map(more).sum::<usize>()
}

/// A character's size within a JSON text.
pub(crate) fn character_bytes(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        other => other.len_utf8(),
    }
}

/// A number's size as JSON.
pub(crate) fn number_bytes(number: &Number) -> usize {
    let digits = |number: u64| number.checked_ilog10().map_or(1, |log| log as usize + 1);
    if let Some(number) = number.as_u64() {
        digits(number)
    } else if let Some(number) = number.as_i64() {
        1 + digits(number.unsigned_abs())
    } else {
        number.to_string().len()
    }
}

/// A name as a step of a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn pointer_steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn shrunk(value: &Value, budget: usize, guard: &Guard) -> (Value, Vec<Place>) {
        let mut tree = Tree::new(value.clone(), &[]);
        tree.shrink(budget, guard);
        let (bytes, places) = (tree.bytes(), tree.places());
        let value = tree.into_value();
        assert_eq!(bytes, value.to_string().len(), "its size is known");
        (value, places)
    }

    fn guard(path: &[&str], what: impl FnOnce(&mut Guard)) -> Guard {
        let steps: Vec<Step> = path
            .iter()
            .map(|step| match *step {
                "*" => Step::Item,
                name => Step::Member(name.to_owned()),
            })
            .collect();
        let mut guard = Guard::default();
        what(guard.at(&steps));
        guard
    }

    fn place(at: &str, kept: u64, of: u64, unit: Unit) -> Place {
        Place { at: at.to_owned(), kept, of, unit }
    }

    #[test]
    fn whole_items_at_the_end_go_first() {
        let value = json!([[1, 2], [3, 4], [5, 6], [7, 8]]);
        assert_eq!(shrunk(&value, 25, &Guard::default()), (value.clone(), vec![]));
        let (left, places) = shrunk(&value, 20, &Guard::default());
        assert_eq!((left, places), (json!([[1, 2], [3, 4], [5, 6]]), vec![place("", 3, 4, Unit::Items)]));
    }

    #[test]
    fn a_first_item_that_alone_is_too_large_is_cut_rather_than_gone() {
        let value = json!([{"text": "x".repeat(500), "n": 1}, 2]);
        let (left, places) = shrunk(&value, 100, &Guard::default());
        assert_eq!(left[0]["n"], 1);
        assert_eq!(places[0], place("", 1, 2, Unit::Items));
        assert_eq!((places[1].at.as_str(), places[1].of), ("/0/text", 500));
        assert_eq!(shrunk(&value, 60, &Guard::default()).0, json!([]), "but not where there is no room for anything");
    }

    #[test]
    fn what_a_member_cannot_use_goes_to_the_others() {
        let value = json!({"a": ["x".repeat(300), "y".repeat(300)], "b": "z".repeat(900), "c": true});
        let (left, _) = shrunk(&value, 1000, &Guard::default());
        assert_eq!(left["a"].as_array().unwrap().len(), 1);
        assert!(left.to_string().len() > 990, "{}", left.to_string().len());
    }

    #[test]
    fn an_object_with_too_many_members_loses_those_at_its_end() {
        let few: Map<String, Value> = (0..100).map(|n| (format!("n{n}"), json!("text".repeat(50)))).collect();
        let (left, _) = shrunk(&Value::Object(few), 4000, &Guard::default());
        let left = left.as_object().unwrap();
        assert!((40..60).contains(&left.len()), "each of them is worth 64 bytes: {}", left.len());
        assert!(left.keys().enumerate().all(|(n, name)| *name == format!("n{n}")));
        let many: Map<String, Value> = (0..1000).map(|n| (format!("n{n}"), json!("text".repeat(50)))).collect();
        let (left, places) = shrunk(&Value::Object(many), 4000, &Guard::default());
        assert_eq!(left["n3"], "text".repeat(50), "a table's are whole");
        assert_eq!(places, [place("", left.as_object().unwrap().len() as u64, 1000, Unit::Members)]);
    }

    #[test]
    fn a_member_whose_name_is_too_long_goes_before_the_others() {
        let value = json!({"a": 1, "x".repeat(500): 2, "b": 3});
        assert_eq!(shrunk(&value, 100, &Guard::default()).0, json!({"a": 1, "b": 3}));
    }

    #[test]
    fn a_guard_is_kept_and_the_cut_is_made_elsewhere() {
        let value = json!({"a": "x".repeat(500), "b": "y".repeat(500), "rows": [["p".repeat(300), 1], ["q".repeat(300), 2]], "z": 1});
        let whole = guard(&["b"], |guard| guard.whole = true);
        let (left, places) = shrunk(&value, 800, &whole);
        assert_eq!(left["b"], value["b"]);
        assert!(places.iter().all(|place| place.at != "/b"));
        let (left, _) = shrunk(&value, 400, &guard(&["a"], |guard| guard.at_least = 200));
        assert_eq!(left["a"].as_str().unwrap().len(), 200);
        let (left, places) = shrunk(&value, 300, &guard(&["rows"], |guard| guard.at_least = 2));
        assert_eq!(left["rows"].as_array().unwrap().len(), 2);
        assert!(places.iter().any(|place| place.at == "/rows/1/0"));
        let (left, _) = shrunk(&value, 20, &guard(&[], |guard| guard.names.extend(["z".to_owned()])));
        assert_eq!(left, json!({"z": 1}));
        let (left, _) = shrunk(&value, 500, &guard(&["rows", "*"], |guard| guard.whole = true));
        assert!(left["rows"].as_array().unwrap().iter().eq(value["rows"].as_array().unwrap().iter().take(0)));
    }

    #[test]
    fn a_guard_that_asks_for_more_than_there_is_room_for_is_kept_and_the_budget_is_not() {
        let value = json!({"a": "x".repeat(500), "b": "y".repeat(500)});
        let mut tree = Tree::new(value, &[]);
        let mut both = guard(&["a"], |guard| guard.whole = true);
        both.names.insert("a".to_owned());
        tree.shrink(100, &both);
        assert_eq!(tree.into_value(), json!({"a": "x".repeat(500)}));
    }

    #[test]
    fn what_was_missing_before_is_counted_again() {
        let missing = [
            place("/a", 2, 900, Unit::Items),
            place("/a/0", 80, 700, Unit::Characters),
            place("/b/c~1d", 0, 5, Unit::Members),
        ];
        let mut tree = Tree::new(json!({"a": ["x".repeat(80), "y"], "b": {"c/d": {}}}), &missing);
        assert_eq!(tree.places(), missing);
        assert_eq!((tree.at("/a/1"), tree.at("/b")), (Some((3, true)), Some((10, false))));
        tree.shrink(100, &Guard::default());
        let left = tree.places();
        assert_eq!((&left[0], &left[2]), (&place("/a", 1, 900, Unit::Items), &missing[2]));
        assert!(left[1].kept < 80 && left[1].of == 700, "{:?}", left[1]);
    }

    #[test]
    fn sizes_are_those_of_compact_json() {
        for value in [
            json!([0, 9, 10, -1, -10, u64::MAX, i64::MIN, 1.0, -0.0, 1e300, 0.1, 1e-7]),
            json!({"": {}, "a\"b": [[], null, true, false], "\u{0}\u{1f}\u{7f}\n\t\r\u{8}\u{c}\\/": "é😀\u{2028}"}),
        ] {
            assert_eq!(json_bytes(&value), serde_json::to_string(&value).unwrap().len());
            assert_eq!(Tree::new(value.clone(), &[]).bytes(), json_bytes(&value));
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            Just(Value::Null),
            "[a-z\"\u{1}é😀]{0,100}".prop_map(Value::from),
            (0_usize..400).prop_map(|length| {
                Value::Object((0..length).map(|number| (format!("{number}"), json!([number]))).collect())
            }),
        ];
        leaf.prop_recursive(4, 80, 10, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..10).prop_map(Value::from),
                proptest::collection::vec(("[a-z/~\"]{0,20}", inner), 0..10)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_budget_is_kept_and_nothing_goes_that_fits(value in value(), budget in 2_usize..2000) {
            let (left, places) = shrunk(&value, budget, &Guard::default());
            let is_plain = !matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_));
            prop_assert!(is_plain || left.to_string().len() <= budget);
            prop_assert_eq!(places.is_empty(), left == value);
            prop_assert!(left == value || json_bytes(&value) > budget);
        }

        #[test]
        fn a_value_that_is_made_smaller_twice_keeps_the_second_budget_and_the_first_counts(
            value in value(),
            first in 2_usize..2000,
            second in 2_usize..2000,
        ) {
            let mut tree = Tree::new(value.clone(), &[]);
            tree.shrink(first, &Guard::default());
            let missing = tree.places();
            let mut again = Tree::new(tree.into_value(), &missing);
            again.shrink(second, &Guard::default());
            let is_plain = !matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_));
            prop_assert!(is_plain || again.bytes() <= second);
            for place in again.places() {
                let whole = value.pointer(&place.at).unwrap();
                let of = match whole {
                    Value::String(text) => text.chars().count(),
                    Value::Array(items) => items.len(),
                    Value::Object(members) => members.len(),
                    _ => 0,
                };
                prop_assert_eq!(place.of, of as u64);
            }
        }
    }
}
