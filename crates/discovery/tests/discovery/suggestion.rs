//! Wrong names and the right ones that they find.

use gatelatch_discovery::help::{self, Attempt};
use gatelatch_discovery::ladder::{self, Request};
use gatelatch_registry::catalog::{ArgumentType, Catalog, Effect, Kind};
use serde_json::{Value, json};

use crate::build::{Details, House, WithActions, action, agent, arg, ask, office, skill, tool};

/// A tool of the kind that people guess at.
fn vault() -> House {
    let mut entry = tool("vault", "Credentials of a team.");
    for name in [
        "list-credentials",
        "get-credential",
        "create-credential",
        "update-credential",
        "delete-credentials",
        "share-credential",
        "search-entries",
        "rotate-secret",
        "list-team-members",
        "add-team-member",
        "remove-team-member",
        "export-audit-log",
        "get-usage-report",
        "send-invitation",
        "reset-password",
        "enable-two-factor",
        "disable-two-factor",
        "import-csv",
        "unlock-account",
        "check-status",
    ] {
        entry = entry.has(action(name, ""));
    }
    House::new(vec![entry], Vec::new())
}

#[test]
fn a_wrong_action_finds_the_right_one() {
    let vault = vault();
    let table = [
        // another order, singular and plural
        ("credential-list", "list-credentials"),
        ("credentials-list", "list-credentials"),
        ("list-credential", "list-credentials"),
        ("credential-get", "get-credential"),
        ("get-credentials", "get-credential"),
        ("delete-credential", "delete-credentials"),
        ("credential-delete", "delete-credentials"),
        ("credentials-share", "share-credential"),
        ("members-list", "list-team-members"),
        ("team-members-list", "list-team-members"),
        ("list-members", "list-team-members"),
        ("list-team-member", "list-team-members"),
        ("member-add", "add-team-member"),
        ("team-member-remove", "remove-team-member"),
        ("secret-rotate", "rotate-secret"),
        ("rotate-secrets", "rotate-secret"),
        ("password-reset", "reset-password"),
        ("audit-log-export", "export-audit-log"),
        ("export-log", "export-audit-log"),
        ("usage-report", "get-usage-report"),
        ("report", "get-usage-report"),
        ("status", "check-status"),
        ("account-unlock", "unlock-account"),
        // case styles
        ("listCredentials", "list-credentials"),
        ("ListCredentials", "list-credentials"),
        ("list_credentials", "list-credentials"),
        ("LIST_CREDENTIALS", "list-credentials"),
        ("list credentials", "list-credentials"),
        ("list.credentials", "list-credentials"),
        ("vault.list-credentials", "list-credentials"),
        ("getUsageReport", "get-usage-report"),
        ("ImportCSV", "import-csv"),
        ("csv_import", "import-csv"),
        ("enableTwoFactor", "enable-two-factor"),
        ("disabletwofactor", "disable-two-factor"),
        ("listcredentials", "list-credentials"),
        // typing errors
        ("list-credentals", "list-credentials"),
        ("lst-credentials", "list-credentials"),
        ("create-credntial", "create-credential"),
        ("udpate-credential", "update-credential"),
        ("serach-entries", "search-entries"),
        ("rotate-sercet", "rotate-secret"),
        ("send-invitaton", "send-invitation"),
        ("reset-pasword", "reset-password"),
        ("chek-status", "check-status"),
        ("unlok-account", "unlock-account"),
        ("improt-csv", "import-csv"),
        ("shaer-credential", "share-credential"),
        // other words
        ("remove-credential", "delete-credentials"),
        ("fetch-credential", "get-credential"),
        ("find-entries", "search-entries"),
        ("entry-search", "search-entries"),
        ("invite", "send-invitation"),
        ("send-invite", "send-invitation"),
        ("new-credential", "create-credential"),
        ("edit-credential", "update-credential"),
        ("modify-credential", "update-credential"),
        ("show-usage-report", "get-usage-report"),
        ("download-audit-log", "export-audit-log"),
        ("add-member", "add-team-member"),
        ("delete-team-member", "remove-team-member"),
        ("kick-team-member", "remove-team-member"),
        ("activate-two-factor", "enable-two-factor"),
        ("turn-off-two-factor", "disable-two-factor"),
        ("get-status", "check-status"),
        ("verify-status", "check-status"),
        ("upload-csv", "import-csv"),
        ("change-password", "reset-password"),
        ("enumerate-credentials", "list-credentials"),
    ];
    assert!(table.len() >= 60, "{}", table.len());
    let mut lost = Vec::new();
    for (wrong, right) in table {
        let error = help::unknown_action(&vault.view(), vault.entry("vault"), Some(wrong));
        assert_eq!(error.error, "unknown_action");
        if error.did_you_mean.first().map(String::as_str) != Some(right) {
            lost.push(format!("{wrong} -> {right}, not {:?}", error.did_you_mean));
        }
        assert_eq!(error.example.unwrap()["arguments"]["tool"], "vault");
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn a_wrong_entry_finds_the_right_one() {
    let entries = ["issue-tracker", "mail-server", "pdf-reader", "web-search", "time-sheets"];
    let house = House::new(
        entries.iter().map(|name| tool(name, "").alone(Vec::new())).collect(),
        vec![skill("review-code", ""), skill("plan-trip", "")],
    );
    for (wrong, right) in [
        ("issues-tracker", "issue-tracker"),
        ("tracker", "issue-tracker"),
        ("issuetracker", "issue-tracker"),
        ("isue-tracker", "issue-tracker"),
        ("email-server", "mail-server"),
        ("servers-mail", "mail-server"),
        ("PdfReader", "pdf-reader"),
        ("pdf", "pdf-reader"),
        ("search-web", "web-search"),
        ("websearch", "web-search"),
        ("timesheet", "time-sheets"),
        ("time_sheet", "time-sheets"),
    ] {
        let error = help::unknown_entry(&house.view(), Kind::Tool, wrong);
        assert_eq!((error.error, error.did_you_mean[0].as_str()), ("unknown_tool", right), "{wrong}");
    }
    let error = help::unknown_entry(&house.view(), Kind::Skill, "code-reviews");
    assert_eq!((error.error, error.did_you_mean), ("unknown_skill", vec!["review-code".to_owned()]));
}

#[test]
fn a_name_that_resembles_nothing_is_searched_for() {
    let office = office();
    let error = help::unknown_action(&office.view(), office.entry("xlsx"), Some("spreadsheet-rows"));
    assert_eq!(error.did_you_mean[0], "read-sheet");
    let error = help::unknown_entry(&office.view(), Kind::Tool, "appointments");
    assert_eq!(error.did_you_mean[0], "calendar");
    let error = help::unknown_entry(&office.view(), Kind::Tool, "qqqqqqq").to_value();
    assert!(error.get("did_you_mean").is_none() && error["example"]["tool"] == "capabilities", "{error}");
}

#[test]
fn a_name_of_another_kind_is_sent_to_the_right_tool() {
    let office = office();
    let example = |kind, name| help::unknown_entry(&office.view(), kind, name).example.unwrap();
    assert_eq!(example(Kind::Tool, "describe-workbook")["tool"], "run_agent");
    assert_eq!(example(Kind::Agent, "hello-world")["tool"], "run_tool");
    assert_eq!(
        example(Kind::Tool, "read-a-workbook"),
        json!({"tool": "get_skill", "arguments": {"name": "read-a-workbook"}})
    );
    assert_eq!(example(Kind::Skill, "xlsx"), json!({"tool": "capabilities", "arguments": {"name": "xlsx"}}));
    let answer = ask(&office, json!({"name": "xlsx", "kind": "agent"}));
    assert_eq!(answer["error"], "unknown_agent");
    assert!(answer["message"].as_str().unwrap().contains("it is a tool"), "{answer}");
}

#[test]
fn an_actions_name_in_the_place_of_a_tools_finds_its_tool() {
    let office = office();
    for wrong in
        ["send-message", "outbox.send-message", "outbox/send-message", "outbox:send-message", "outbox send-message"]
    {
        let error = help::unknown_entry(&office.view(), Kind::Tool, wrong);
        let example = error.example.unwrap();
        assert_eq!(error.did_you_mean, ["outbox"], "{wrong}");
        assert_eq!(
            (&example["tool"], &example["arguments"]["action"]),
            (&json!("run_tool_confirmed"), &json!("send-message"))
        );
    }
}

#[test]
fn an_action_of_another_entry_is_pointed_out() {
    let office = office();
    let error = help::unknown_action(&office.view(), office.entry("outbox"), Some("find-slots")).to_value();
    assert!(error["message"].as_str().unwrap().ends_with("tool `calendar` has"), "{error}");
    assert_eq!(error["example"]["arguments"]["tool"], "calendar");
}

#[test]
fn an_entry_of_several_actions_asks_for_one() {
    let office = office();
    let error = help::unknown_action(&office.view(), office.entry("xlsx"), None);
    assert_eq!(
        (error.error, error.did_you_mean),
        ("missing_action", vec!["list-sheets".to_owned(), "read-sheet".to_owned()])
    );
    let vault = vault();
    let error = help::unknown_action(&vault.view(), vault.entry("vault"), None).to_value();
    assert!(error.get("did_you_mean").is_none(), "20 actions are no suggestion: {error}");
    assert_eq!(error["example"], json!({"tool": "capabilities", "arguments": {"name": "vault"}}));
}

#[test]
fn a_nameless_action_is_called_without_a_name() {
    let office = office();
    let error = help::unknown_action(&office.view(), office.entry("hello-world"), Some("greet")).to_value();
    assert!(error["message"].as_str().unwrap().contains("leave `action` out"), "{error}");
    assert_eq!(error["example"], json!({"tool": "run_tool", "arguments": {"tool": "hello-world", "args": {}}}));
}

#[test]
fn an_empty_catalog_has_help_too() {
    let house = House::of(Catalog::default());
    assert_eq!(ask(&house, json!({}))["counts"]["tools"], 0);
    assert_eq!(ask(&house, json!({"search": "anything"}))["matches"], json!([]));
    assert_eq!(ask(&house, json!({"name": "anything"}))["error"], "unknown_name");
    let lone = House::new(vec![agent("a", "").alone(Vec::new())], Vec::new());
    let answer: Value = ask(&lone, json!({"name": "zzz"}));
    assert_eq!(answer["error"], "unknown_name");
}

#[test]
fn of_names_that_are_about_as_close_the_one_is_meant_that_takes_the_arguments_and_can_be_undone() {
    let text = |name| arg(name, ArgumentType::String, "");
    let shop = tool("shop", "A shop.")
        .has(action("cancel-order", "Cancel.").effect(Effect::Irreversible).needs(text("order-id")))
        .has(action("draft-order", "Draft.").effect(Effect::Reversible).needs(text("customer")))
        .has(action("get-order", "Get.").needs(text("order-id")).takes(text("fields")));
    let house = House::new(vec![shop], Vec::new());
    let meant = |args: Value| {
        let attempt = Attempt { action: Some("place-order"), args: &args };
        let error = help::wrong_action(&house.view(), house.entry("shop"), attempt);
        let arguments = error.example.unwrap()["arguments"].clone();
        (arguments["action"].as_str().unwrap().to_owned(), arguments["args"].clone())
    };
    assert_eq!(meant(json!({"customer": "c-1"})), ("draft-order".to_owned(), json!({"customer": "c-1"})));
    assert_eq!(meant(json!({"order-id": "o", "fields": "x"})).0, "get-order");
    assert_ne!(meant(json!({})).0, "cancel-order");
}

#[test]
fn a_name_that_comes_close_to_one_of_another_kind_finds_it_with_the_arguments() {
    let office = office();
    let args = json!({"path": "a.xlsx"});
    let attempt = Attempt { action: None, args: &args };
    let error = help::wrong_entry(&office.view(), Kind::Tool, "DescribeWorkbook", attempt);
    assert!(error.message.ends_with("`describe-workbook` is an agent: use run_agent"), "{}", error.message);
    assert_eq!(
        error.example.unwrap(),
        json!({"tool": "run_agent", "arguments": {"agent": "describe-workbook", "args": args}})
    );
}

#[test]
fn the_word_that_was_asked_for_is_no_suggestion() {
    let house = house_of_kinds();
    for (kind, name) in
        [(Kind::Tool, "digest"), (Kind::Agent, "mailer"), (Kind::Tool, "minutes"), (Kind::Skill, "mailer")]
    {
        let error = help::unknown_entry(&house.view(), kind, name);
        assert_eq!(error.did_you_mean, Vec::<String>::new(), "{error:?}");
        assert!(error.example.is_some(), "the example says what to call instead");
    }
}

#[test]
fn at_the_command_line_no_message_speaks_of_mcp_tools() {
    let (house, vault) = (house_of_kinds(), vault());
    let (view, large) = (house.view(), vault.view());
    let mailer = house.entry("mailer");
    let child = json!({"text": "error: unrecognized arguments: --verbose"});
    let errors = [
        help::unknown_entry(&view, Kind::Tool, "digest"),
        help::unknown_entry(&view, Kind::Agent, "mailer"),
        help::unknown_entry(&view, Kind::Tool, "minutes"),
        help::unknown_entry(&view, Kind::Tool, "zzz"),
        help::unknown_entry(&view, Kind::Skill, "zzz"),
        help::unknown_action(&view, mailer, None),
        help::unknown_action(&view, house.entry("digest"), Some("x")),
        help::unknown_action(&large, vault.entry("vault"), Some("zzz")),
        help::child_usage(&view, mailer, house.action("mailer", "send-mail"), &child).unwrap(),
        ladder::capabilities(
            &view,
            &Request { name: Some("minutes".into()), action: Some("x".into()), ..Request::default() },
        )
        .unwrap_err(),
        ladder::capabilities(&view, &Request { name: Some("twin".into()), ..Request::default() }).unwrap_err(),
    ];
    for error in errors {
        let typed = error.typed.as_ref().expect("it has words of its own");
        for word in ["run_tool", "run_agent", "capabilities", "get_skill", "`action`", "`kind`", "`schema`", "{"] {
            assert!(!typed.contains(word), "{typed}");
        }
        assert_ne!(*typed, error.message);
    }
}

/// One of each kind, and a name that two kinds have.
fn house_of_kinds() -> House {
    let mailer =
        tool("mailer", "Sends mail.").has(action("send-mail", "Sends one.")).has(action("list-mails", "Lists."));
    let twin = tool("twin", "One.").alone(Vec::new());
    let agents = [agent("digest", "Digests.").alone(Vec::new()), agent("twin", "Other.").alone(Vec::new())];
    let entries = [mailer, twin].into_iter().chain(agents).collect();
    House::new(entries, vec![skill("minutes", "How minutes are taken.")])
}

/// What stands behind the first 256 bytes of a wrong name, or the first 8 KiB of a question, is not looked at: comparing
/// a megabyte with every name would not end while anybody waits.
#[test]
fn a_name_or_a_question_of_a_megabyte_is_answered_by_its_beginning() {
    let vault = vault();
    let about = |name: &str| ask(&vault, json!({"name": name}));
    for beginning in ["list-credentials-", "aB", "\u{fdfa}", "of words "] {
        let name = beginning.repeat(256 / beginning.len());
        let name: String = name.chars().chain("x".repeat(256 - name.len()).chars()).collect();
        let long = format!("{name}{}", beginning.repeat(1_000_000 / beginning.len()));
        assert_eq!(about(&long), about(&name), "{beginning}");
        let action = |action: &str| ask(&vault, json!({"name": "vault", "action": action}));
        assert_eq!(action(&long), action(&name), "{beginning}");
    }
    for beginning in ["credential", "検索", "\u{fdfa}"] {
        let question = beginning.repeat((8 << 10) / beginning.len() + 1);
        let long = format!("{question}{}", beginning.repeat(1_000_000 / beginning.len()));
        let search = |words: &str| ask(&vault, json!({"search": words}));
        assert_eq!(search(&long), search(&question), "{beginning}");
    }
}
