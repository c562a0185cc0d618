//! What a search finds, and in which order.

use gatelatch_discovery::ladder::{Hit, View, search};
use gatelatch_registry::catalog::{ActionManifest, ArgumentType, Entry, Kind};
use serde_json::json;

use crate::build::{Details, House, WithActions, action, agent, arg, ask, office, skill, tool};

fn names(hits: &[Hit]) -> Vec<String> {
    let shown = |hit: &Hit| match &hit.action {
        Some(action) => format!("{}.{action}", hit.entry),
        None => hit.entry.clone(),
    };
    hits.iter().map(shown).collect()
}

fn found(house: &House, words: &str) -> Vec<String> {
    names(&search(&house.view(), words, None, 10))
}

#[track_caller]
fn first(house: &House, words: &str, expected: &str) {
    let found = found(house, words);
    assert_eq!(found.first().map(String::as_str), Some(expected), "for `{words}`: {found:?}");
}

#[test]
fn words_in_any_form_find_the_action() {
    let office = office();
    for words in [
        "list-messages",
        "list_messages",
        "listMessages",
        "ListMessages",
        "LIST MESSAGES",
        "messages list",
        "message lists",
        "listing message",
        "show me all my messages please",
        "outbox list",
        "inbox",
        "listmessages",
        "enumerate messages",
    ] {
        first(&office, words, "outbox.list-messages");
    }
}

#[test]
fn a_typing_error_or_two_does_not_hide_an_action() {
    let office = office();
    first(&office, "mesages list", "outbox.list-messages");
    first(&office, "spredsheet", "xlsx.read-sheet");
    first(&office, "calender booking", "calendar.book-meeting");
    first(&office, "appointmnts", "calendar.book-meeting");
    first(&office, "workbok sheets list", "xlsx.list-sheets");
}

#[test]
fn the_beginning_of_a_word_finds_it() {
    first(&office(), "appoint", "calendar.book-meeting");
    first(&office(), "attend", "calendar.book-meeting");
}

#[test]
fn other_words_for_the_same_thing_find_it() {
    let office = office();
    first(&office, "remove emails", "outbox.delete-messages");
    first(&office, "mail a letter", "outbox.send-message");
    first(&office, "excel file rows", "xlsx.read-sheet");
    first(&office, "schedule an appointment", "calendar.book-meeting");
}

/// Every action here has the same words of the questions in the same fields.
#[cfg(feature = "meanings")]
#[test]
fn of_hits_with_equal_words_the_one_that_is_about_the_question_comes_first() {
    let clinic = tool("places", "Places.")
        .has(action("find-garage", "Find a garage in the city."))
        .has(action("find-dentist", "Find a dentist in the city."))
        .has(action("find-cinema", "Find a cinema in the city."));
    let house = House::new(vec![clinic], Vec::new());
    first(&house, "my gums are bleeding, find somebody in the city", "places.find-dentist");
    first(&house, "My gums are bleeding. Find somebody in the city.", "places.find-dentist");
    first(&house, "the gearbox is leaking, find somebody in the city", "places.find-garage");
    first(&house, "watch a premiere tonight, find one in the city", "places.find-cinema");
}

/// Several actions say something of the first wish, and only one of each other.
#[test]
fn each_of_several_wishes_in_one_question_is_found() {
    let calculate = |of: &str| action(&format!("calculate-{of}"), &format!("Calculate the {of} of a basic amount."));
    let desk = ["salary", "interest", "discount", "tip", "tax"]
        .iter()
        .fold(tool("desk", "Desk."), |desk, of| desk.has(calculate(of)));
    let desk =
        desk.has(action("generate-barcode", "Generate a barcode.")).has(action("translate-text", "Translate a text."));
    let house = House::new(vec![desk], Vec::new());
    for wishes in [
        "Calculate the salary for a basic amount of 2000 with a tax of 5. Generate a barcode for it. Translate hello.",
        "calculate the salary for a basic amount of 2000 with a tax of 5, then generate a barcode, also translate hello",
    ] {
        let mut best = found(&house, wishes);
        best.truncate(4);
        for wished in ["desk.calculate-salary", "desk.generate-barcode", "desk.translate-text"] {
            assert!(best.iter().any(|name| name == wished), "{wished} for `{wishes}`: {best:?}");
        }
    }
}

#[test]
fn what_is_meant_alike_but_shares_no_word_is_no_hit() {
    let house = House::new(vec![tool("garage", "Brakes.").has(action("mend-brakes", "Mends brakes."))], Vec::new());
    let answer = ask(&house, json!({"search": "squeaking windscreen wipers"}));
    assert_eq!(answer["matches"], json!([]), "{answer}");
    assert!(answer["next"].as_str().is_some_and(|next| next.contains("lists what is there")), "{answer}");
}

#[test]
fn compound_words_are_found_joined_and_split() {
    let house = House::new(
        vec![
            tool("weather", "Weather.")
                .has(action("get-airquality", "How clean the air is."))
                .has(action("get-wind", "How strong the wind blows.")),
            tool("git", "Repositories on GitHub.").has(action("list-pull-requests", "Open pull requests.")),
        ],
        Vec::new(),
    );
    first(&house, "air quality in Lyon", "weather.get-airquality");
    first(&house, "pullrequests", "git.list-pull-requests");
    first(&house, "github", "git.list-pull-requests");
}

#[test]
fn text_that_is_not_english_is_found() {
    let house = House::new(
        vec![
            tool("post", "Nachrichten verschicken.")
                .has(action("senden", "Eine Nachricht an einen Empfänger schicken."))
                .has(action("löschen", "Eine Nachricht für immer löschen.")),
            tool("mail-jp", "電子メールを送受信する。")
                .has(action("send", "電子メールを送信する。"))
                .has(action("search", "受信箱を検索する。")),
            tool("почта", "Почтовые сообщения.").has(action("отправить", "Отправить сообщение получателю.")),
            tool("메일", "메일을 보냅니다.").has(action("보내기", "메일을 보냅니다.")),
            tool("βιβλίο", "Βιβλία της βιβλιοθήκης.").has(action("αναζήτηση", "Αναζήτηση βιβλίων.")),
        ],
        Vec::new(),
    );
    first(&house, "Empfanger", "post.senden");
    first(&house, "LOSCHEN", "post.löschen");
    first(&house, "電子メールを送信したい", "mail-jp.send");
    first(&house, "検索", "mail-jp.search");
    first(&house, "отправка сообщений", "почта.отправить");
    first(&house, "메일 보내기", "메일.보내기");
    first(&house, "αναζητηση βιβλιων", "βιβλίο.αναζήτηση");
}

#[test]
fn what_people_call_it_outweighs_what_its_text_mentions() {
    let house = House::new(
        vec![
            tool("a", "A.").has(action("run", "Does this and that, also with a spreadsheet.")),
            tool("b", "B.").has(action("run", "Does this and that.").trigger("spreadsheet")),
        ],
        Vec::new(),
    );
    first(&house, "spreadsheet", "b.run");
}

#[test]
fn argument_names_and_descriptions_and_examples_are_searched() {
    let house = House::new(
        vec![
            tool("one", "One.").has(action("go", "Go.").takes(arg("postal-code", ArgumentType::String, ""))),
            tool("two", "Two.").has(action("go", "Go.").takes(arg("x", ArgumentType::String, "A licence plate"))),
            tool("three", "Three.").has(action("go", "Go.").example(json!({"x": "Rotterdam"}))),
        ],
        Vec::new(),
    );
    first(&house, "postal code", "one.go");
    first(&house, "licence plates", "two.go");
    first(&house, "rotterdam", "three.go");
}

#[test]
fn skills_and_agents_are_found_beside_tools() {
    let office = office();
    first(&office, "write a manifest for my script", "write-a-manifest");
    let hits = search(&office.view(), "describe workbook", None, 1);
    assert_eq!((hits[0].kind, hits[0].action.as_deref()), (Kind::Agent, None));
}

#[test]
fn a_search_inside_an_entry_stays_inside() {
    let office = office();
    let hits = search(&office.view(), "list workbook messages", Some((Kind::Tool, "xlsx")), 10);
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.entry == "xlsx"), "{hits:?}");
    let hits = search(&office.view(), "workbook", Some((Kind::Skill, "read-a-workbook")), 10);
    assert_eq!(names(&hits), ["read-a-workbook"]);
    assert!(search(&office.view(), "workbook", Some((Kind::Tool, "nothing")), 10).is_empty());
}

#[test]
fn a_kind_filters_what_is_found() {
    let office = office();
    for (kind, allowed) in [("agent", "agent"), ("skill", "skill"), ("tool", "tool"), ("toolset", "tool")] {
        let answer = ask(&office, json!({"search": "workbook name", "kind": kind}));
        let matches = answer["matches"].as_array().unwrap();
        assert!(!matches.is_empty(), "{kind}");
        assert!(matches.iter().all(|found| found["kind"] == allowed), "{kind}: {answer}");
        assert!(kind != "toolset" || matches.iter().all(|found| found["name"] != "hello-world"));
    }
}

#[test]
fn a_large_tool_does_not_hide_what_a_small_one_has() {
    let mut large = tool("suite", "A suite for everything.");
    for number in 0..60 {
        large = large.has(action(&format!("send-message-v{number}"), "Send a message to a person."));
    }
    let small =
        tool("pager", "Wake whoever is on duty.").has(action("send-page", "Send a message to a person on duty."));
    let house = House::new(vec![large, small], Vec::new());
    let found = found(&house, "send a message to a person");
    assert_eq!(found[7], "pager.send-page", "{found:?}");
    assert_eq!(found.len(), 10);
}

#[test]
fn equal_hits_are_in_order_of_name_whatever_the_order_of_the_manifests() {
    let twin = |name: &str| tool(name, "Twins.").has(action("b-do", "Do it.")).has(action("a-do", "Do it."));
    let forward = House::new(vec![twin("one"), twin("two"), twin("ten")], Vec::new());
    let backward = House::new(vec![twin("two"), twin("ten"), twin("one")], Vec::new());
    let expected = ["one.a-do", "one.b-do", "ten.a-do", "ten.b-do", "two.a-do", "two.b-do"];
    assert_eq!(found(&forward, "do it"), expected);
    assert_eq!(found(&backward, "do it"), expected);
    assert_eq!(names(&search(&forward.view(), "do it", None, 3)), expected[..3]);
}

#[test]
fn building_twice_gives_the_same_answers() {
    let (one, other) = (office(), office());
    for words in ["workbook", "send the message to Ann", "spredsheet", "free time on 2024-05-01", "the", "メール", ""]
    {
        assert_eq!(search(&one.view(), words, None, 10), search(&other.view(), words, None, 10), "{words}");
    }
}

#[test]
fn what_is_not_ready_is_found_and_marked() {
    let office = office();
    let not_ready = |entry: &Entry| (entry.manifest.name == "xlsx").then(|| "python not found".to_owned());
    let hits = search(&View { not_ready: &not_ready, ..office.view() }, "read sheet", None, 1);
    assert_eq!(names(&hits), ["xlsx.read-sheet"]);
    assert_eq!(hits[0].not_ready.as_deref(), Some("python not found"));
}

#[test]
fn grammar_is_searched_for_only_where_there_is_nothing_else() {
    let house = House::new(
        vec![tool("me", "Yourself.").has(action("who-am-i", "Your name.")).has(action("set-name", "Change the name."))],
        Vec::new(),
    );
    first(&house, "who am I", "me.who-am-i");
    assert_eq!(found(&office(), "the"), Vec::<String>::new());
}

#[test]
fn every_text_is_a_question() {
    let house = House::new(
        vec![
            agent("a", "").alone(Vec::new()),
            tool("b", "x").has(ActionManifest { name: Some(String::new()), ..action("c", "") }),
        ],
        vec![skill("s", "")],
    );
    for words in [
        "",
        " ",
        "\u{0}",
        "---",
        "'",
        "\"",
        "a".repeat(10_000).as_str(),
        &"word ".repeat(10_000),
        "💥",
        "\u{301}\u{301}",
    ] {
        found(&house, words);
        found(&office(), words);
    }
}

#[test]
fn an_index_of_another_catalog_finds_nothing_that_is_not_there() {
    let (small, office) = (House::new(Vec::new(), Vec::new()), office());
    let view = View { index: &office.index, ..small.view() };
    assert!(search(&view, "message", None, 10).is_empty());
}
