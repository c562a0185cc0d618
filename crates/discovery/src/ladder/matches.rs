//! The door `{search}`: matching actions, name and description only.

use std::cmp::Ordering;
use std::collections::HashMap;

use gatelatch_registry::catalog::Kind;
use serde_json::{Map, Value, json};

use super::{Aim, Filter, Found, Hit, View, pointers};
use crate::budget;
use crate::help::UsageError;
use crate::index::{Ranked, Target, words};

/// How many matches an answer shows.
const SHOWN: usize = 10;

/// The largest answer, in bytes.
const LIMIT: usize = 6_000;

/// Where to search.
pub(crate) enum Scope {
    Everywhere(Option<Filter>),
    Within(Kind, String),
}

/// The answer to a search.
pub(super) fn answer(
    view: &View<'_>,
    filter: Option<Filter>,
    name: Option<&str>,
    words: &str,
) -> Result<Value, UsageError> {
    let scope = match name {
        None => Scope::Everywhere(filter),
        Some(name) => match view.resolve(filter, name)? {
            Found::Entry(entry) => Scope::Within(entry.manifest.kind, name.to_owned()),
            Found::Skill(_) => Scope::Within(Kind::Skill, name.to_owned()),
        },
    };
    let (hits, total) = hits(view, words, &scope, SHOWN);
    if hits.is_empty() {
        return Ok(nothing(view, &scope, words));
    }
    Ok(budget::first_fitting(LIMIT, [240, 120, 60, 0].map(|limit| shown(&scope, &hits, total, limit))))
}

/// The best hits, and how many things fit the words at all.
pub(super) fn hits(view: &View<'_>, words: &str, scope: &Scope, limit: usize) -> (Vec<Hit>, usize) {
    let population = view.index.population(&mut |target| within(view, scope, target) && view.sees_target(target));
    let mut ranked = view.index.rank(words, &population);
    let total = ranked.len();
    let order = |a: &Ranked, b: &Ranked| b.score.total_cmp(&a.score).then_with(|| by_name(view, a.target, b.target));
    let pool = limit.max(POOL);
    if pool < total {
        ranked.select_nth_unstable_by(pool, order);
        ranked.truncate(pool);
    }
    ranked.sort_unstable_by(order);
    if matches!(scope, Scope::Everywhere(_)) {
        ranked = spread(ranked);
    }
    ranked.truncate(limit);
    (ranked.into_iter().filter_map(|ranked| hit(view, ranked)).collect(), total)
}

/// How many of the best hits are ordered at least, so that the order does not depend on how many are asked for.
const POOL: usize = 128;

/// Of the first so many places one entry takes at most [`MOST_OF_ONE`].
const SPREAD_OVER: usize = 10;

const MOST_OF_ONE: usize = 7;

/// Gives the last of the first places to other entries than one that would take them all, if theirs are at least half as
/// good: a large tool with many similar actions does not hide what others have.
fn spread(ranked: Vec<Ranked>) -> Vec<Ranked> {
    let mut taken: HashMap<Target, usize> = HashMap::new();
    let (mut first, mut later): (Vec<Ranked>, Vec<Ranked>) = (Vec::new(), Vec::new());
    for hit in ranked {
        let taken = taken.entry(hit.target.whole()).or_default();
        let good = later.first().is_none_or(|waiting| 2.0 * hit.score >= waiting.score);
        if first.len() < SPREAD_OVER && *taken < MOST_OF_ONE && good {
            *taken += 1;
            first.push(hit);
        } else {
            later.push(hit);
        }
    }
    first.append(&mut later);
    first
}

fn within(view: &View<'_>, scope: &Scope, target: Target) -> bool {
    match (scope, view.target(target)) {
        (_, None) => false,
        (Scope::Everywhere(None), Some(_)) => true,
        (Scope::Everywhere(Some(Filter::Kind(kind))), Some(Aim::Action(entry, _))) => entry.manifest.kind == *kind,
        (Scope::Everywhere(Some(filter)), Some(Aim::Action(entry, _))) => view.passes(entry, Some(*filter)),
        (Scope::Everywhere(Some(filter)), Some(Aim::Skill(_))) => *filter == Filter::Kind(Kind::Skill),
        (Scope::Within(kind, name), Some(Aim::Action(entry, _))) => {
            entry.manifest.kind == *kind && entry.manifest.name == *name
        }
        (Scope::Within(kind, name), Some(Aim::Skill(skill))) => *kind == Kind::Skill && skill.manifest.name == *name,
    }
}

fn by_name(view: &View<'_>, one: Target, other: Target) -> Ordering {
    let key = |target| match view.target(target) {
        Some(Aim::Action(entry, action)) => {
            Some((entry.manifest.kind, entry.manifest.name.as_str(), action.name.as_deref()))
        }
        Some(Aim::Skill(skill)) => Some((Kind::Skill, skill.manifest.name.as_str(), None)),
        None => None,
    };
    key(one).cmp(&key(other))
}

fn hit(view: &View<'_>, ranked: Ranked) -> Option<Hit> {
    Some(match view.target(ranked.target)? {
        Aim::Action(entry, action) => Hit {
            kind: entry.manifest.kind,
            entry: entry.manifest.name.clone(),
            action: action.name.clone(),
            description: action.description.clone(),
            score: ranked.score,
            not_ready: (view.not_ready)(entry),
        },
        Aim::Skill(skill) => Hit {
            kind: Kind::Skill,
            entry: skill.manifest.name.clone(),
            action: None,
            description: skill.manifest.description.clone(),
            score: ranked.score,
            not_ready: None,
        },
    })
}

fn shown(scope: &Scope, hits: &[Hit], total: usize, description: usize) -> Value {
    let matches: Vec<Value> = hits.iter().map(|hit| line(hit, description)).collect();
    let mut answer = Map::new();
    answer.insert("matches".to_owned(), json!(matches));
    if total > hits.len() {
        answer.insert("further".to_owned(), json!(total - hits.len()));
    }
    answer.insert("next".to_owned(), json!(next(scope, hits)));
    Value::Object(answer)
}

fn line(hit: &Hit, description: usize) -> Value {
    let mut line = Map::new();
    line.insert("kind".to_owned(), json!(hit.kind.as_str()));
    line.insert("name".to_owned(), json!(hit.entry));
    if let Some(action) = &hit.action {
        line.insert("action".to_owned(), json!(action));
    }
    if description > 0 {
        line.insert("description".to_owned(), json!(budget::cut(&hit.description, description)));
    }
    if let Some(why) = &hit.not_ready {
        line.insert("not_ready".to_owned(), json!(budget::cut(why, 120)));
    }
    Value::Object(line)
}

/// The next step, for the best hit.
fn next(scope: &Scope, hits: &[Hit]) -> String {
    let Some(first) = hits.first() else {
        return String::new();
    };
    let step = match (first.kind, &first.action) {
        (Kind::Skill, _) => format!("get_skill {} gives the skill", json!({"name": first.entry})),
        (_, Some(action)) => {
            pointers(&[("name", &first.entry), ("action", action)], "gives an action's arguments and the call to make")
        }
        (_, None) => pointers(&[("name", &first.entry)], "gives its arguments and the call to make"),
    };
    match scope {
        Scope::Everywhere(_) => format!("{step}; add `name` to search inside one entry"),
        Scope::Within(..) => step,
    }
}

/// The answer where nothing fits: the words that come nearest, and where to look.
fn nothing(view: &View<'_>, scope: &Scope, text: &str) -> Value {
    let population = view.index.population(&mut |target| within(view, scope, target) && view.sees_target(target));
    let terms = view.index.nearest_terms(text, &population, 5);
    let mut nearest: Vec<String> = Vec::new();
    for term in terms {
        if let Some(word) = spelled(view, scope, term).filter(|word| !nearest.contains(word)) {
            nearest.push(word);
        }
    }
    let next = match scope {
        Scope::Everywhere(_) => pointers(&[], "lists what is there; fewer or more general words find more"),
        Scope::Within(_, name) => format!(
            "{}; {}",
            pointers(&[("name", name)], "lists its actions"),
            pointers(&[("search", "…")], "without `name` searches everything")
        ),
    };
    json!({"matches": [], "nearest_words": nearest, "next": next})
}

/// A term as the first visible text that holds it spells it.
fn spelled(view: &View<'_>, scope: &Scope, term: &str) -> Option<String> {
    let found = |text: &str| {
        let spelled = words::list(text).into_iter().map(|(word, _)| word);
        spelled.filter(|word| words::stem(word) == term).min()
    };
    let visible = view.index.targets().filter(|target| within(view, scope, *target) && view.sees_target(*target));
    let texts = visible.filter_map(|target| view.target(target)).flat_map(|aim| match aim {
        Aim::Action(entry, action) => {
            let arguments = action.args.iter().flat_map(|argument| [argument.name.as_str(), &argument.description]);
            let own = [action.name.as_deref().unwrap_or_default(), action.description.as_str()];
            let about = [entry.manifest.name.as_str(), entry.manifest.description.as_str()];
            let triggers = action.triggers.iter().map(String::as_str);
            own.into_iter().chain(about).chain(triggers).chain(arguments).collect::<Vec<_>>()
        }
        Aim::Skill(skill) => vec![skill.manifest.name.as_str(), skill.manifest.description.as_str()],
    });
    texts.into_iter().find_map(found)
}
