//! opencode's permission rules: which one decides about a tool, once all configurations are merged.
//!
//! Pure. Written after what opencode 1.18 does: objects merge key by key, a key keeps the place where it was met first and
//! takes its latest value, and of all rules that match the last one decides. An agent's rules come after everybody's.
//! Start at [`judge`].

use serde_json::{Map, Value};

use super::super::Server;
use super::super::judgement::{Judgement, Unread};

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl Verdict {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }

    fn of(value: &Value) -> Option<Verdict> {
        let word = value.as_str()?;
        [Verdict::Allow, Verdict::Ask, Verdict::Deny].into_iter().find(|verdict| verdict.as_str() == word)
    }
}

/// The tools that must ask.
pub(super) fn confirmed(server: &str) -> impl Iterator<Item = String> {
    Server::Operator.confirmed().iter().map(move |tool| format!("{server}_{tool}"))
}

/// The tools that need no question.
fn plain(server: &str) -> impl Iterator<Item = String> {
    Server::Operator.plain().iter().map(move |tool| format!("{server}_{tool}"))
}

/// One source of configuration, in the order in which opencode merges them.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    /// How a person knows it: a path, or a variable's name.
    pub(super) source: String,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A configuration file.
    Config(Value),
    /// The front matter of an agent's Markdown file.
    Agent { name: String, front: Value },
    /// Rules alone.
    Permission(Value),
    /// Something that could not be read, and why.
    Unread(String),
}

/// Holds the merged layers against what connecting promises.
pub(super) fn judge(layers: &[Layer], server: &str) -> Judgement {
    let mut judgement = Judgement::default();
    let merged = Merged::of(layers, &mut judgement);
    let everybody = merged.everybody();
    for tool in confirmed(server) {
        let found = decide(everybody.iter().copied(), &tool);
        if found.as_ref().is_none_or(|rule| rule.verdict == Verdict::Allow) {
            judgement.warnings.push(let_through(&tool, None, found));
        }
        for (agent, own) in &merged.agents {
            let found = decide(everybody.iter().copied().chain(own.iter()), &tool);
            // What an agent only inherits was told above.
            if found.as_ref().is_some_and(|rule| rule.verdict == Verdict::Allow && own.iter().any(|r| r.is(rule))) {
                judgement.warnings.push(let_through(&tool, Some(agent), found));
            }
        }
    }
    for tool in confirmed(server).chain(plain(server)) {
        let Some(rule) = decide(everybody.iter().copied(), &tool) else { continue };
        let plain_is_asked = rule.verdict == Verdict::Ask && !confirmed(server).any(|name| name == tool);
        if plain_is_asked || rule.verdict == Verdict::Deny {
            let what = if rule.verdict == Verdict::Deny { "is hidden from the model" } else { "asks each time" };
            judgement.notes.push(format!("`{tool}` {what}: {rule}"));
        }
    }
    judgement
}

/// A rule found to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deciding {
    pub(super) key: String,
    pub(super) verdict: Verdict,
    source: String,
}

impl std::fmt::Display for Deciding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`\"{}\": \"{}\"`", self.key, self.verdict.as_str())?;
        if self.source.is_empty() { Ok(()) } else { write!(f, " in {}", self.source) }
    }
}

/// The rule of one `permission` object that decides about a tool.
pub(super) fn deciding(permission: &Map<String, Value>, tool: &str) -> Option<Deciding> {
    let mut rules = Vec::new();
    merge_rules(&mut rules, permission, "");
    decide(rules.iter(), tool)
}

/// What a rule's value says about a call as such.
pub(super) fn own_verdict(value: &Value) -> Option<Verdict> {
    Verdict::of(value).or_else(|| {
        // MCP tools are asked for with the pattern `*`, which a narrower pattern does not match.
        value.as_object()?.iter().rev().filter(|(pattern, _)| matches(pattern, "*")).find_map(|(_, v)| Verdict::of(v))
    })
}

fn let_through(tool: &str, agent: Option<&String>, rule: Option<Deciding>) -> String {
    let who = agent.map(|agent| format!(" for agent `{agent}`")).unwrap_or_default();
    let why = rule.map_or_else(|| "no rule is about it".to_owned(), |rule| format!("{rule} decides"));
    format!("`{tool}` runs without a question{who}: {why}; put `\"{tool}\": \"ask\"` after it")
}

#[derive(Clone, Debug)]
struct Rule {
    key: String,
    value: Value,
    source: String,
}

impl Rule {
    fn is(&self, found: &Deciding) -> bool {
        self.key == found.key && self.source == found.source
    }
}

fn decide<'a>(rules: impl DoubleEndedIterator<Item = &'a Rule>, tool: &str) -> Option<Deciding> {
    rules.rev().filter(|rule| matches(&rule.key, tool)).find_map(|rule| {
        let verdict = own_verdict(&rule.value)?;
        Some(Deciding { key: rule.key.clone(), verdict, source: rule.source.clone() })
    })
}

/// opencode's wildcard: `*` is any text, `?` one character, and a trailing ` *` may be missing altogether.
fn matches(pattern: &str, text: &str) -> bool {
    let slashed = |text: &str| text.replace('\\', "/").chars().collect::<Vec<char>>();
    let (pattern, text) = (slashed(pattern), slashed(text));
    let optional_tail = pattern.strip_suffix(&[' ', '*']);
    optional_tail.is_some_and(|head| glob(head, &text)) || glob(&pattern, &text)
}

fn glob(pattern: &[char], text: &[char]) -> bool {
    // The place of the latest `*` and of the text that it has swallowed up to.
    let (mut at, mut from, mut star) = (0, 0, None);
    while from < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, from));
                at += 1;
            }
            Some(c) if *c == '?' || Some(c) == text.get(from) => {
                at += 1;
                from += 1;
            }
            _ => match star {
                Some((after, swallowed)) => {
                    star = Some((after, swallowed + 1));
                    (at, from) = (after, swallowed + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or(&[]).iter().all(|c| *c == '*')
}

#[derive(Default)]
struct Merged {
    permission: Vec<Rule>,
    /// The deprecated form of rules; in the end they come before the others.
    tools: Vec<Rule>,
    agents: Vec<(String, Vec<Rule>)>,
    /// The deprecated form of agents within configurations, with its source; it comes after all agents.
    modes: Vec<(String, Value, String)>,
    disabled: Vec<String>,
}

impl Merged {
    fn of(layers: &[Layer], judgement: &mut Judgement) -> Merged {
        let mut merged = Merged::default();
        for layer in layers {
            match &layer.content {
                Content::Config(value) => merged.add_config(value, &layer.source),
                Content::Agent { name, front } => merged.add_agent(name, front, &layer.source),
                // The text form has no meaning here.
                Content::Permission(value) => {
                    merge_rules(&mut merged.permission, value.as_object().unwrap_or(&Map::new()), &layer.source);
                }
                Content::Unread(why) => {
                    judgement.unread.push(Unread { source: layer.source.clone(), why: why.clone() });
                }
            }
        }
        for (name, mode, source) in std::mem::take(&mut merged.modes) {
            merged.add_agent(&name, &mode, &source);
        }
        merged.agents.retain(|(name, _)| !merged.disabled.contains(name));
        merged
    }

    fn add_config(&mut self, value: &Value, source: &str) {
        if let Some(permission) = value.get("permission") {
            merge_rules(&mut self.permission, &normal(permission), source);
        }
        merge_rules(&mut self.tools, &rules_of_tools(value.get("tools")), source);
        let members = |key: &str| value.get(key).and_then(Value::as_object).into_iter().flatten();
        for (name, agent) in members("agent") {
            self.add_agent(name, agent, source);
        }
        for (name, mode) in members("mode") {
            self.modes.push((name.clone(), mode.clone(), source.to_owned()));
        }
    }

    fn add_agent(&mut self, name: &str, agent: &Value, source: &str) {
        if let Some(disabled) = agent.get("disable").and_then(Value::as_bool) {
            self.disabled.retain(|known| known != name);
            if disabled {
                self.disabled.push(name.to_owned());
            }
        }
        let mut own = rules_of_tools(agent.get("tools"));
        if let Some(permission) = agent.get("permission") {
            for (key, value) in normal(permission) {
                own.insert(key, value);
            }
        }
        let place = match self.agents.iter().position(|(known, _)| known == name) {
            Some(place) => place,
            None => {
                self.agents.push((name.to_owned(), Vec::new()));
                self.agents.len() - 1
            }
        };
        if let Some((_, rules)) = self.agents.get_mut(place) {
            merge_rules(rules, &own, source);
        }
    }

    /// What holds for every agent. A key that both forms hold has the place of the one and the value of the other.
    fn everybody(&self) -> Vec<&Rule> {
        let latest = |rule: &'_ Rule| self.permission.iter().find(|other| other.key == rule.key);
        let (tools, permission) = (&self.tools, &self.permission);
        tools
            .iter()
            .map(|rule| latest(rule).unwrap_or(rule))
            .chain(permission.iter().filter(|rule| !tools.iter().any(|other| other.key == rule.key)))
            .collect()
    }
}

/// The text form means one rule for everything.
fn normal(permission: &Value) -> Map<String, Value> {
    match permission {
        Value::Object(rules) => rules.clone(),
        Value::String(_) => Map::from_iter([("*".to_owned(), permission.clone())]),
        _ => Map::new(),
    }
}

fn rules_of_tools(tools: Option<&Value>) -> Map<String, Value> {
    let mut rules = Map::new();
    for (key, on) in tools.and_then(Value::as_object).into_iter().flatten() {
        let key = if ["write", "edit", "patch"].contains(&key.as_str()) { "edit" } else { key };
        let verdict = if on.as_bool().unwrap_or(false) { Verdict::Allow } else { Verdict::Deny };
        rules.insert(key.to_owned(), verdict.as_str().into());
    }
    rules
}

fn merge_rules(into: &mut Vec<Rule>, rules: &Map<String, Value>, source: &str) {
    for (key, value) in rules {
        let Some(known) = into.iter_mut().find(|rule| rule.key == *key) else {
            into.push(Rule { key: key.clone(), value: value.clone(), source: source.to_owned() });
            continue;
        };
        source.clone_into(&mut known.source);
        match (&mut known.value, value) {
            (Value::Object(known), Value::Object(patterns)) => {
                for (pattern, verdict) in patterns {
                    known.insert(pattern.clone(), verdict.clone());
                }
            }
            (known, value) => *known = value.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(source: &str, value: Value) -> Layer {
        Layer { source: source.to_owned(), content: Content::Config(value) }
    }

    /// The rules that connecting writes.
    fn connected() -> Layer {
        config(
            "ours",
            json!({"permission": {
                "gatelatch_*": "allow",
                "gatelatch_run_tool_confirmed": "ask",
                "gatelatch_run_agent_confirmed": "ask",
            }}),
        )
    }

    #[track_caller]
    fn check_warned(layers: &[Layer], expected: &[&str]) {
        let warnings = judge(layers, "gatelatch").warnings;
        assert_eq!(warnings.len(), expected.len(), "{warnings:#?}");
        for (warning, part) in warnings.iter().zip(expected) {
            assert!(warning.contains(part), "`{warning}` does not say `{part}`");
        }
    }

    #[test]
    fn wildcards_match_as_opencode_does() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "gatelatch_run_tool", true),
            ("gatelatch_*", "gatelatch_run_tool", true),
            ("gatelatch_*", "gatelatch", false),
            ("*_confirmed", "gatelatch_run_tool_confirmed", true),
            ("*tool", "gatelatch_run_tool_confirmed", false),
            ("g?telatch_*_c*d", "gatelatch_run_tool_confirmed", true),
            ("?", "*", true),
            ("", "x", false),
            ("a.c", "abc", false),
            ("git *", "git", true),
            ("git *", "git push", true),
            ("git *", "gitk", false),
            ("**x**", "x", true),
            ("a\\b", "a/b", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "`{pattern}` on `{text}`");
        }
    }

    #[test]
    fn what_connecting_writes_asks_for_both_confirmed_tools_and_for_no_other() {
        assert_eq!(judge(&[connected()], "gatelatch"), Judgement::default());
    }

    #[test]
    fn a_rule_of_a_later_configuration_lets_through_and_is_named() {
        let later = config("project", json!({"permission": {"*": "allow"}}));
        check_warned(&[connected(), later.clone()], &["`\"*\": \"allow\"` in project decides"; 2]);
        let text_form = config("project", json!({"permission": "allow"}));
        check_warned(&[connected(), text_form], &["in project decides"; 2]);
        // Met first, the same rule keeps its place before ours, whoever repeats it.
        check_warned(&[later.clone(), connected()], &[]);
        check_warned(&[later.clone(), connected(), later], &[]);
    }

    #[test]
    fn a_later_value_of_our_own_key_counts() {
        let later = config("project", json!({"permission": {"gatelatch_run_tool_confirmed": "allow"}}));
        check_warned(&[connected(), later], &["`gatelatch_run_tool_confirmed` runs without a question: "]);
    }

    #[test]
    fn an_agents_own_rules_come_last() {
        for (agent, warned) in [
            (json!({"permission": "allow"}), true),
            (json!({"permission": {"gatelatch_*": "allow"}}), true),
            (json!({"permission": {"*_confirmed": {"*": "allow"}}}), true),
            (json!({"tools": {"gatelatch_*": true}}), true),
            (json!({"permission": {"*": "allow", "gatelatch_run_*_confirmed": "ask"}}), false),
            (json!({"permission": {"bash": "allow"}}), false),
            (json!({"permission": {"*": {"narrow": "allow"}}}), false),
            (json!({"permission": "allow", "disable": true}), false),
            (json!({"tools": {"gatelatch_*": false}}), false),
        ] {
            for layer in [
                config("ours too", json!({"agent": {"build": agent}})),
                config("ours too", json!({"mode": {"build": agent}})),
                Layer {
                    source: "ours too".to_owned(),
                    content: Content::Agent { name: "build".to_owned(), front: agent.clone() },
                },
            ] {
                let expected: &[&str] = if warned { &["for agent `build`"; 2] } else { &[] };
                check_warned(&[connected(), layer], expected);
            }
        }
    }

    #[test]
    fn the_deprecated_tools_come_before_the_rules_but_do_not_keep_their_value() {
        check_warned(&[connected(), config("old", json!({"tools": {"gatelatch_*": true}}))], &[]);
        // It moves our question before the general rule, which then decides.
        let old = config("old", json!({"tools": {"gatelatch_run_tool_confirmed": true}}));
        check_warned(&[connected(), old], &["`gatelatch_run_tool_confirmed` runs without a question"]);
    }

    #[test]
    fn rules_from_the_environment_come_last() {
        let layer =
            Layer { source: "OPENCODE_PERMISSION".to_owned(), content: Content::Permission(json!({"*": "allow"})) };
        check_warned(&[connected(), layer], &["in OPENCODE_PERMISSION decides"; 2]);
    }

    #[test]
    fn modes_in_configurations_come_after_all_agents() {
        let mode = config("early", json!({"mode": {"mine": {"permission": {"*_confirmed": "ask"}}}}));
        let agent = config("late", json!({"agent": {"mine": {"permission": {"gatelatch_*": "allow"}}}}));
        check_warned(&[connected(), mode.clone(), agent.clone()], &[]);
        check_warned(&[connected(), agent, mode], &[]);
    }

    #[test]
    fn the_text_form_in_the_environment_means_nothing() {
        let layer = Layer { source: "OPENCODE_PERMISSION".to_owned(), content: Content::Permission(json!("allow")) };
        check_warned(&[connected(), layer], &[]);
    }

    #[test]
    fn without_any_rule_the_default_lets_through() {
        check_warned(&[config("empty", json!({}))], &["no rule is about it"; 2]);
    }

    #[test]
    fn a_question_for_a_plain_tool_and_a_hidden_one_are_noted_not_warned_of() {
        let later = config("project", json!({"permission": {"gatelatch_run_tool": "ask", "gatelatch_get_*": "deny"}}));
        let judged = judge(&[connected(), later], "gatelatch");
        assert_eq!(judged.warnings, Vec::<String>::new());
        assert_eq!(
            judged.notes,
            [
                "`gatelatch_run_tool` asks each time: `\"gatelatch_run_tool\": \"ask\"` in project",
                "`gatelatch_get_skill` is hidden from the model: `\"gatelatch_get_*\": \"deny\"` in project",
            ]
        );
    }

    #[test]
    fn a_source_that_cannot_be_read_is_told() {
        let broken = Layer { source: "/x.json".to_owned(), content: Content::Unread("line 1".to_owned()) };
        assert_eq!(
            judge(&[connected(), broken], "gatelatch").unread.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["/x.json was not read (line 1); its rules are not considered"]
        );
    }

    #[test]
    fn patterns_of_one_key_merge() {
        let first = config("a", json!({"permission": {"gatelatch_*": {"*": "ask"}}}));
        let second = config("b", json!({"permission": {"gatelatch_*": {"x": "allow"}}}));
        check_warned(&[first, second], &[]);
    }
}
