//! The door `{}`: everything in one compact answer, whatever the catalog's size.
//!
//! Each section (tools, agents, skills, what is not ready) has its own level of detail. While the answer is too large,
//! the largest section goes down one level.

use std::collections::BTreeMap;

use gatelatch_registry::catalog::{ActionManifest, Entry, Kind};
use serde_json::{Map, Value, json};

use super::{Filter, View, groups, pointers};
use crate::budget;

/// The largest answer, in bytes.
const LIMIT: usize = 12_000;

/// The most bytes of one entry's list of action names.
const MOST_ACTIONS: usize = 800;

/// The compact list.
pub(super) fn answer(view: &View<'_>, filter: Option<Filter>) -> Value {
    let listing = Listing::gather(view, filter);
    let frame = listing.frame();
    let mut sections: Vec<Shown<'_>> = listing.sections.iter().map(Shown::first).collect();
    let fixed = budget::bytes(&Value::Object(frame.clone())) + 16 * sections.len();
    while fixed + sections.iter().map(|section| section.size).sum::<usize>() > LIMIT {
        let largest = sections.iter_mut().filter(|section| section.can_shrink()).max_by_key(|section| section.size);
        match largest {
            Some(section) => section.shrink(),
            None => break,
        }
    }
    let mut answer = Map::new();
    for section in sections.into_iter().filter(|section| !section.value.is_null()) {
        answer.insert(section.of.key.to_owned(), section.value);
    }
    answer.extend(frame);
    Value::Object(answer)
}

/// Everything that the answer may show.
struct Listing {
    sections: Vec<Section>,
    actions: usize,
    /// Whether an action is marked that needs a human.
    marked: bool,
    next: String,
}

struct Section {
    key: &'static str,
    content: Content,
}

enum Content {
    Ready(Vec<Line>),
    NotReady(Vec<(Kind, String, String)>),
}

struct Line {
    name: String,
    description: String,
    /// Empty for a skill and for a nameless action. Marked where a human is needed, unless they are too many to be shown.
    actions: Vec<String>,
    /// The first of them, unmarked.
    first: Option<String>,
    /// Whether the nameless action needs a human.
    needs_human: bool,
    /// Whether any mark is on this line.
    marked: bool,
}

impl Listing {
    fn gather(view: &View<'_>, filter: Option<Filter>) -> Listing {
        let (mut tools, mut agents, mut not_ready) = (Vec::new(), Vec::new(), Vec::new());
        let mut actions = 0;
        for entry in view.entries(filter) {
            if let Some(why) = (view.not_ready)(entry) {
                not_ready.push((entry.manifest.kind, entry.manifest.name.clone(), why));
                continue;
            }
            actions += view.actions(entry).count();
            match entry.manifest.kind {
                Kind::Tool => tools.push(Line::of(view, entry)),
                Kind::Agent => agents.push(Line::of(view, entry)),
                Kind::Skill => {}
            }
        }
        let skills: Vec<Line> = view
            .skills(filter)
            .map(|skill| Line {
                name: skill.manifest.name.clone(),
                description: skill.manifest.description.clone(),
                actions: Vec::new(),
                first: None,
                needs_human: false,
                marked: false,
            })
            .collect();
        let marked = tools.iter().chain(&agents).any(|line| line.marked);
        let next = next(&tools, &agents, &skills);
        let ready = [("tools", tools), ("agents", agents), ("skills", skills)];
        let mut sections: Vec<Section> =
            ready.into_iter().map(|(key, lines)| Section { key, content: Content::Ready(lines) }).collect();
        sections.push(Section { key: "not_ready", content: Content::NotReady(not_ready) });
        Listing { sections, actions, marked, next }
    }

    /// What stands in the answer at every level of detail.
    fn frame(&self) -> Map<String, Value> {
        let mut counts = Map::new();
        for section in &self.sections {
            counts.insert(section.key.to_owned(), json!(section.count()));
        }
        counts.insert("actions".to_owned(), json!(self.actions));
        let mut frame = Map::from_iter([("counts".to_owned(), Value::Object(counts))]);
        if self.marked {
            frame.insert("legend".to_owned(), json!("! needs a human: run_tool_confirmed, run_agent_confirmed"));
        }
        frame.insert("next".to_owned(), json!(self.next));
        frame
    }
}

impl Line {
    fn of(view: &View<'_>, entry: &Entry) -> Line {
        let named: Vec<&ActionManifest> = view.actions(entry).filter(|action| action.name.is_some()).collect();
        let names = || named.iter().filter_map(|action| action.name.as_deref());
        let needs_human = |action: &ActionManifest| (view.effect)(entry, action).1;
        // What is never shown needs no mark, and marks of a giant cost more than the rest of the answer.
        let shown = names().map(|name| name.len() + 3).sum::<usize>() <= MOST_ACTIONS;
        let marked = |action: &ActionManifest| if shown && needs_human(action) { "!" } else { "" };
        let actions: Vec<String> =
            named.iter().zip(names()).map(|(action, name)| format!("{name}{}", marked(action))).collect();
        let needs_human = view.actions(entry).any(|action| action.name.is_none() && needs_human(action));
        Line {
            name: entry.manifest.name.clone(),
            description: entry.manifest.description.clone(),
            first: names().next().map(str::to_owned),
            needs_human,
            marked: needs_human || actions.iter().zip(names()).any(|(action, name)| action != name),
            actions,
        }
    }

    /// `actions` bytes are the most that a list of action names may take; a longer one becomes its count.
    fn shown(&self, description: usize, actions: usize) -> Value {
        let mut line = Map::new();
        line.insert("name".to_owned(), json!(self.name));
        if description > 0 && !self.description.is_empty() {
            line.insert("description".to_owned(), json!(budget::cut(&self.description, description)));
        }
        if !self.actions.is_empty() {
            let names = json!(self.actions);
            let fits = budget::bytes(&names) <= actions;
            line.insert("actions".to_owned(), if fits { names } else { json!(self.actions.len()) });
        } else if self.needs_human && description > 0 {
            line.insert("!".to_owned(), json!(true));
        }
        Value::Object(line)
    }
}

impl Section {
    fn count(&self) -> usize {
        match &self.content {
            Content::Ready(lines) => lines.len(),
            Content::NotReady(lines) => lines.len(),
        }
    }

    /// The bytes that all names take at least.
    fn names(&self) -> usize {
        match &self.content {
            Content::Ready(lines) => lines.iter().map(|line| line.name.len() + 3).sum(),
            Content::NotReady(lines) => lines.iter().map(|(_, name, _)| name.len() + 3).sum(),
        }
    }

    /// The section at a level of detail; null when there is nothing to show.
    fn at(&self, level: usize) -> Value {
        match &self.content {
            Content::Ready(lines) if lines.is_empty() => Value::Null,
            Content::NotReady(lines) if lines.is_empty() => Value::Null,
            Content::Ready(lines) => ready(lines, level),
            Content::NotReady(lines) => not_ready(lines, level),
        }
    }
}

/// The last level of either section; it shows nothing but the counts.
const LAST_LEVEL: usize = 7;

/// The first level that no longer shows every name.
const FIRST_GROUPED: usize = 5;

fn ready(lines: &[Line], level: usize) -> Value {
    let names = || lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>();
    let all = |description, actions| lines.iter().map(|line| line.shown(description, actions)).collect();
    match level {
        0 => all(240, MOST_ACTIONS),
        1 => all(120, 300),
        2 => all(80, 0),
        3 => all(40, 0),
        4 => json!(names()),
        5 => json!(groups::by_first_word(&names(), 60).unwrap_or_else(|| groups::ranges(&names(), 40))),
        6 => json!(groups::ranges(&names(), 8)),
        _ => Value::Null,
    }
}

fn not_ready(lines: &[(Kind, String, String)], level: usize) -> Value {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, name, why) in lines {
        by_reason.entry(why).or_default().push(name);
    }
    let reasons = |limit: usize, shown: &dyn Fn(&str, &[&str]) -> Value| {
        let mut reasons: Vec<_> = by_reason.iter().collect();
        reasons.sort_by(|(a, m), (b, n)| n.len().cmp(&m.len()).then_with(|| a.cmp(b)));
        reasons.into_iter().take(limit).map(|(why, names)| shown(why, names)).collect::<Vec<_>>()
    };
    match level {
        0 => lines
            .iter()
            .map(|(kind, name, why)| json!({"kind": kind.as_str(), "name": name, "why": budget::cut(why, 200)}))
            .collect(),
        1 | 2 => json!(reasons(usize::MAX, &|why, names| json!({"why": budget::cut(why, 120), "names": names}))),
        3..=5 => json!(reasons(20, &|why, names| json!({"why": budget::cut(why, 120), "count": names.len()}))),
        6 => json!(reasons(5, &|why, names| json!({"why": budget::cut(why, 60), "count": names.len()}))),
        _ => Value::Null,
    }
}

/// A section as it stands in the answer.
struct Shown<'a> {
    of: &'a Section,
    level: usize,
    value: Value,
    size: usize,
}

impl<'a> Shown<'a> {
    fn first(of: &'a Section) -> Shown<'a> {
        // Levels that show every name need not be tried where the names alone are too many.
        let level = if of.names() > LIMIT { FIRST_GROUPED } else { 0 };
        let value = of.at(level);
        Shown { of, level, size: budget::bytes(&value), value }
    }

    fn can_shrink(&self) -> bool {
        self.level < LAST_LEVEL
    }

    fn shrink(&mut self) {
        self.level += 1;
        self.value = self.of.at(self.level);
        self.size = budget::bytes(&self.value);
    }
}

/// The next steps, with names that exist.
fn next(tools: &[Line], agents: &[Line], skills: &[Line]) -> String {
    let mut steps = vec![pointers(&[("search", "what you want to do")], "finds actions")];
    if let Some(line) = tools.first().or(agents.first()) {
        let name = budget::cut(&line.name, 80);
        steps.push(pointers(&[("name", &name)], "shows an entry's actions and arguments"));
        if let Some(action) = &line.first {
            let action = budget::cut(action, 80);
            steps.push(pointers(&[("name", &name), ("action", &action)], "shows one action and the call to make"));
        }
    }
    if let Some(line) = skills.first() {
        steps.push(format!("get_skill {} gives a skill", json!({"name": budget::cut(&line.name, 80)})));
    }
    steps.join("; ")
}
