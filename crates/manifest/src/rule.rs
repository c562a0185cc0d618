//! Every rule that a manifest or a catalog can break: its stable code, its name, how bad it is, what it means and the
//! way out.
//!
//! The reference page is made from [`RULES`], and tests demand a golden case for each. Codes from 100 to
//! 109 are about whole catalogs and are found by whoever loads them, those from 140 about what a declaration of the chat
//! surface and a catalog say of each other, those from 190 about what the gate makes of a manifest; the others are found
//! in one file. A code is never given a second
//! meaning and never used again once it is gone. Start at [`RULES`].

use crate::diagnostic::Severity;

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The number of the stable code, shown as `M007`.
    pub code: u16,
    /// The stable name, in snake case.
    pub name: &'static str,
    /// Whether an entry that breaks it is left out.
    pub severity: Severity,
    /// What was broken, in one line.
    pub meaning: &'static str,
    /// What the author can do, in one line.
    pub way_out: &'static str,
}

impl Rule {
    /// The rule of that code.
    pub fn by_code(code: u16) -> Option<&'static Rule> {
        RULES.iter().find(|rule| rule.code == code)
    }
}

macro_rules! rules {
    ($($constant:ident $code:literal $severity:ident $name:literal $meaning:literal $way_out:literal)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: Rule =
                Rule { code: $code, name: $name, severity: Severity::$severity, meaning: $meaning, way_out: $way_out };
        )*
        /// Every rule, by code.
        pub const RULES: &[Rule] = &[$($constant),*];
    };
}

rules! {
    TOO_LARGE 1 Error "too_large"
        "A manifest is larger than 1 MiB."
        "split the entry into several, or move long texts into a skill"
    NOT_UTF8 2 Error "not_utf8"
        "A manifest is not UTF-8 text."
        "save the file as UTF-8"
    NUL 3 Error "nul"
        "A manifest holds a NUL character."
        "remove the character; a manifest is plain text"
    YAML_SYNTAX 4 Error "yaml_syntax"
        "A manifest is no YAML; what follows the place could not be checked."
        "mend the line; text that holds `: `, ` #` or begins with a special character goes in quotes"
    SEVERAL_DOCUMENTS 5 Error "several_documents"
        "A manifest holds more than one YAML document."
        "keep one document; every entry has a folder and a manifest of its own"
    DUPLICATE_KEY 6 Error "duplicate_key"
        "A key stands twice in one mapping."
        "keep one of the two"
    ANCHOR 7 Error "anchor"
        "A manifest defines a YAML anchor."
        "remove the `&name`; what repeats is written out"
    ALIAS 8 Error "alias"
        "A manifest uses a YAML alias."
        "write the value out; text that begins with `*` goes in quotes"
    MERGE_KEY 9 Error "merge_key"
        "A manifest uses the YAML merge key `<<`."
        "write the keys out; what a tool states once its actions inherit anyway"
    TAG 10 Error "tag"
        "A manifest uses a YAML tag."
        "remove the tag; text that looks like something else goes in quotes"
    TOO_COMPLEX 11 Error "too_complex"
        "A manifest nests too deep or holds too many values."
        "a manifest nests at most 100 levels and holds at most 100000 values and 1 MiB of text"
    FRONT_MATTER 12 Error "front_matter"
        "A skill does not open with front matter between two `---` lines."
        "begin the file with `---`, then `name:` and `description:`, then another `---`"
    TOO_MANY_FINDINGS 13 Warning "too_many_findings"
        "A manifest has more findings than are shown."
        "mend those that are shown and check again"

    UNKNOWN_KEY 20 Error "unknown_key"
        "A key is none that this place of a manifest has."
        "remove it, or write one that the reference lists for this place"
    MISSING_KEY 21 Error "missing_key"
        "A required key is missing or has no value."
        "add the key"
    WRONG_TYPE 22 Error "wrong_type"
        "A value has another type than its key demands."
        "write a value of the type that is named"
    UNKNOWN_VALUE 23 Error "unknown_value"
        "A value is none of the words that its key knows."
        "write one of the words that are listed"
    NOT_A_BOOLEAN 24 Error "not_a_boolean"
        "A plain `yes`, `no`, `on` or the like stands where true or false is due."
        "write `true` or `false`"
    EMPTY_VALUE 25 Warning "empty_value"
        "A key has no value and counts as absent."
        "give it a value or remove the line"
    BAD_KEY 26 Error "bad_key"
        "A mapping's key is no text."
        "write the key as plain text"
    BAD_NUMBER 27 Error "bad_number"
        "A number cannot be held exactly or is out of the key's range."
        "write a plain decimal number within the range"
    TOO_MANY 28 Error "too_many"
        "A list is longer than a manifest may have it."
        "split the entry into several"
    MISPLACED_KEY 29 Error "misplaced_key"
        "A key of an action stands beside `actions`."
        "move it into the action that it describes"

    NAME_FORM 30 Error "name_form"
        "A name has a character, a length or an edge that names do not have."
        "rename it within the form that is named"
    NAME_NOT_FOLDER 31 Error "name_not_folder"
        "An entry's name is not the name of its folder."
        "make the two equal"
    DUPLICATE_NAME 32 Error "duplicate_name"
        "Two things of one list have the same name."
        "rename or remove one of them"
    AMBIGUOUS_NAMES 33 Error "ambiguous_names"
        "Two names differ only in case, `-` or `_`, so that a caller's spelling fits both."
        "rename one of them so that a reader can tell them apart"
    LOOK_ALIKE 34 Error "look_alike"
        "A name or word holds a letter of another script that looks like a usual one."
        "write it with the letters of one script"

    NOT_ONE_LINE 40 Error "not_one_line"
        "A description has more than one line."
        "write one line; a skill is the place for more"
    EMPTY_TEXT 41 Error "empty_text"
        "A text is empty."
        "write the text, or remove the key where it is optional"
    TOO_LONG 42 Error "too_long"
        "A text is longer than its key allows."
        "shorten it"
    BIDIRECTIONAL 43 Error "bidirectional"
        "A text that a model reads holds a character that turns the direction of writing."
        "remove the character"
    INVISIBLE 44 Error "invisible"
        "A text that a model reads holds a character that no reader sees."
        "remove the character"
    CONTROL 45 Error "control"
        "A text holds a control character or an ANSI escape."
        "remove the character"

    RUNTIME_NOT_BUILT 50 Error "runtime_not_built"
        "The runtime is a known one that this version cannot run."
        "use `process` with a program that makes the request, such as curl"
    ENTRYPOINT_FORM 51 Error "entrypoint_form"
        "An entrypoint is absolute, leaves the entry's folder or would be taken for an option."
        "name a file inside the entry's folder, such as `main.py`"
    ENTRYPOINT_MISSING 52 Error "entrypoint_missing"
        "The entrypoint is no file beside the manifest."
        "create the file or mend `entrypoint`"
    SECRET_NAME 53 Error "secret_name"
        "A secret's name is no upper-case variable name."
        "write it with `A-Z`, `0-9` and `_`, beginning with a letter or `_`"
    RESERVED_SECRET 54 Error "reserved_secret"
        "A secret bears the name of a variable that steers programs."
        "give the secret a name of its own"
    VARIABLE_NAME 55 Error "variable_name"
        "A name in `env` is no variable name."
        "write a name such as `HTTP_PROXY`; the value comes from the server's environment"
    SECRET_LET_THROUGH 56 Error "secret_let_through"
        "A variable stands in `secrets` and in `env`, which would pass it unmasked."
        "remove it from `env`"
    VERSION_FORM 57 Warning "version_form"
        "A version does not follow semantic versioning."
        "write three numbers, such as `1.4.0`"

    MINIMUM_OVER_MAXIMUM 60 Error "minimum_over_maximum"
        "An argument's minimum is greater than its maximum."
        "swap them or mend one"
    DEFAULT_MISFIT 61 Error "default_misfit"
        "An argument's default is no value that the argument would take."
        "mend `default`, or what it must fit"
    ENUM_MISFIT 62 Error "enum_misfit"
        "A value of `enum` is none that the argument would take, or stands twice."
        "mend the value, or what it must fit"
    BAD_PATTERN 63 Error "bad_pattern"
        "A pattern is no regular expression that runs in linear time."
        "mend the pattern; look-around and back-references are not available"
    RANGE_ON_NON_NUMBER 64 Error "range_on_non_number"
        "`minimum` or `maximum` stands on an argument that is no number."
        "remove it, or make the argument an `integer` or a `number`"
    PATTERN_ON_NON_TEXT 65 Error "pattern_on_non_text"
        "`pattern` stands on an argument that is no text."
        "remove it, or make the argument a `string` or a `path`"
    ITEMS_ON_NON_ARRAY 66 Error "items_on_non_array"
        "`items` stands on an argument that is no array."
        "remove it, or make the argument an `array`"
    NEGATABLE_ON_NON_BOOLEAN 67 Error "negatable_on_non_boolean"
        "`negatable` stands on an argument that is no boolean."
        "remove it, or make the argument a `boolean`"
    DASH_ON_NON_POSITIONAL 68 Error "dash_on_non_positional"
        "`allow_dash` stands on an argument that is passed by name."
        "remove it: a value passed by name may begin with `-` anyway"
    REQUIRED_AFTER_OPTIONAL 69 Error "required_after_optional"
        "A required positional argument follows an optional one, so that its place is not certain."
        "put the required one first, make both required, or pass one by name"
    POSITIONAL_BOOLEAN 70 Error "positional_boolean"
        "A boolean argument is positional, though it is passed as a name alone."
        "remove `positional`"
    REPEAT_MISPLACED 71 Error "repeat_misplaced"
        "`repeat` stands on an argument that is no array, or `repeat: name` on one that is passed without its name."
        "make the argument an `array`; a positional one says `repeat: value`"

    SCHEMA_INVALID 75 Error "schema_invalid"
        "A schema is no valid JSON Schema 2020-12."
        "mend the schema; a shape in prose goes in quotes as text"
    SCHEMA_ROOT 76 Error "schema_root"
        "An output schema's root is no object."
        "say `type: object` at the root and put the value under a property"
    SCHEMA_DIALECT 77 Error "schema_dialect"
        "A schema names a dialect other than 2020-12."
        "remove `$schema`, or write `https://json-schema.org/draft/2020-12/schema`"
    SCHEMA_REFERENCE 78 Error "schema_reference"
        "A schema refers to something that is not in it."
        "refer to `#/$defs/…` within the same schema, or write the schema out"
    SCHEMA_LOOP 79 Error "schema_loop"
        "A schema refers to itself without going deeper into the value, so that checking would never end."
        "refer to it from `properties` or `items`"

    NARROW_WITH_UNKNOWN 80 Error "narrow_with_unknown"
        "`narrow_with` names an argument that is not declared."
        "name an argument of the action"
    EXAMPLE_UNKNOWN_ARGUMENT 81 Error "example_unknown_argument"
        "An example uses an argument that is not declared."
        "mend the name, or declare the argument"
    EXAMPLE_LACKS_ARGUMENT 82 Error "example_lacks_argument"
        "An example lacks a required argument."
        "add the argument to the example"
    EXAMPLE_MISFIT 83 Error "example_misfit"
        "An example's value is none that the argument would take."
        "mend the value"
    APPROVAL_ON_READ_ONLY 84 Error "approval_on_read_only"
        "A read-only action asks for approval."
        "remove `approval`, or declare the effect that makes a human's yes necessary"
    BECAUSE_WITHOUT_EFFECT 85 Warning "because_without_effect"
        "`because` stands without an `effect` that it would explain."
        "add `effect`, or remove `because`"

    EMPTY_BODY 90 Warning "empty_body"
        "A skill has no text after its front matter."
        "write what the skill teaches"
    DEAD_LINK 91 Warning "dead_link"
        "A skill links to a file that is not in its folder."
        "add the file to the skill's folder, or mend the link"

    CATALOG_MISSING 100 Error "catalog_missing"
        "A catalog folder is missing or is no folder."
        "name a folder that holds `tools/`, `agents/` or `skills/`"
    NO_MANIFEST 101 Warning "no_manifest"
        "An entry's folder holds no manifest."
        "add the manifest, or remove the folder"
    SHADOWED 102 Warning "shadowed"
        "An earlier catalog holds an entry of the same name, which wins."
        "rename one of the two, or remove the one that is not wanted"
    UNKNOWN_USE 103 Error "unknown_use"
        "An agent uses a tool or action that the catalog does not have."
        "mend the name in `uses`, or add the tool"
    EMPTY_CATALOG 104 Warning "empty_catalog"
        "A catalog folder holds none of `tools/`, `agents/` and `skills/`."
        "name the folder that holds them, not one of them and not the one above"
    UNREADABLE 105 Error "unreadable"
        "A manifest, or a folder that should hold one, cannot be read."
        "make it a readable regular file, or remove the entry's folder"

    TOOL_NAME_FORM 110 Error "tool_name_form"
        "A published tool's name has a character, a length or a beginning that such names do not have."
        "write lower-case letters, digits and `_`, beginning with a letter, at most 40 characters"
    NOT_NAMESPACED 111 Error "not_namespaced"
        "A published tool's name does not say first what it is about, so that it may be another server's too."
        "put what the tool works on first, as in `xlsx_read_sheet`"
    SURFACE_VERSION_FORM 112 Error "surface_version_form"
        "`surface_version` is not three numbers."
        "write three numbers, such as `1.4.0`"
    OPERATION_KIND 113 Error "operation_kind"
        "A published tool or a step says nothing of what it calls, or several things."
        "write one of `tool`, `agent` and, for a published tool, `steps`"
    OPERATION_KEY 114 Error "operation_key"
        "A key of a published tool belongs to another kind of operation."
        "remove it, or write it where the calls of the operation stand"
    IRREVERSIBLE_DECLARED 115 Error "irreversible_declared"
        "A published tool is declared as one whose changes cannot be undone."
        "take it out of the declaration: the operator surface runs what cannot be undone, once a human has agreed"
    READ_ONLY_NOT_REVERSIBLE 116 Error "read_only_not_reversible"
        "A published tool changes nothing and says that what it changes cannot be undone."
        "write `reversible: true`, or `read_only: false` where something changes"
    WRITE_NOT_REPEATABLE 117 Error "write_not_repeatable"
        "A published tool writes, and repeating a call would write again."
        "name a required argument as `idempotency_argument`, or write `idempotent: true` where that is so"
    IDEMPOTENCY_ARGUMENT 118 Error "idempotency_argument"
        "`idempotency_argument` names none of the published arguments, or one that a call may lack or that cannot tell calls apart."
        "name a published argument of type `string` or `integer` with `required: true`"
    REQUIRED_DEFAULT 119 Error "required_default"
        "A required argument has a default, which no call would ever get."
        "remove `required: true`, or remove `default`"
    HEADER_FORM 120 Error "header_form"
        "A header's name is no token of HTTP."
        "write letters, digits and `-`, such as `Rows`"
    HEADER_TYPE 121 Error "header_type"
        "A header stands on an argument whose values no header carries."
        "remove `header`: only a `string`, a `path`, an `integer` and a `boolean` travel in one"
    HEADER_SECRET 122 Error "header_secret"
        "A header stands on an argument whose name says that it is a secret, and headers are logged on the way."
        "remove `header`, or rename what is no secret"
    HEADER_TWICE 123 Error "header_twice"
        "Two arguments of a published tool have the same header; case does not count."
        "give each a header of its own"
    TARGET_TWICE 124 Error "target_twice"
        "An argument of the operation gets its value from two places."
        "keep one of the two"
    NUMBER_FORM 125 Error "number_form"
        "A number in what is published is not written the same by every language, so that digests would differ."
        "write an integer within 9007199254740991 of zero, or a decimal of at most 15 digits that is no smaller than 0.0001"
    CUT_MEMBER 126 Error "cut_member"
        "The member `_cut`, by which a result that was cut says what went, has no place in the result."
        "declare `_cut: {type: object}` under `properties` and do not require it"
    POINTER_FORM 127 Error "pointer_form"
        "An `at` is no JSON Pointer."
        "write `/` before each step, as in `/sheets/0/title`, `~1` for a `/` in a name and `~0` for a `~`"
    FEW_STEPS 128 Error "few_steps"
        "A composed operation has fewer than two steps."
        "add a step, or write its `tool` and `action` in place of `steps`"
    UNKNOWN_STEP 129 Error "unknown_step"
        "A source names a step that the operation does not have."
        "mend the name, or add the step"
    LATER_STEP 130 Error "later_step"
        "A step takes a value from itself or from a step after it."
        "take it from an earlier step, or change the order of the steps"
    UNKNOWN_ARGUMENT 131 Error "unknown_argument"
        "A source names an argument that the published tool does not have."
        "mend the name, or add the argument to `args`"
    SOURCE_KIND 132 Error "source_kind"
        "A value has no source, or several, or a key that its source does not have."
        "write one of `{arg: NAME}`, `{value: …}` and `{step: ID, at: /…}`"
    CONDITION_TEST 133 Error "condition_test"
        "A condition tests nothing, or several things, or compares with null."
        "write one of `is: empty`, `is: missing`, `equals: …` and `differs_from: …`"
    STOP_AT_END 134 Error "stop_at_end"
        "The last step says when to stop, and nothing follows it."
        "remove `stop_when`, or move it to the step that decides"
    STEP_UNUSED 135 Warning "step_unused"
        "A step of an operation that changes nothing gives a result that nothing uses."
        "use its result in a later step, in `output` or in `stop_when`, or remove the step"
    ARGUMENT_UNUSED 136 Error "argument_unused"
        "An argument of a composed operation is used by no step and no member of `output`."
        "use it as `{arg: NAME}`, or remove it"
    MEMBER_UNDECLARED 137 Error "member_undeclared"
        "A member of `output` is none that the output schema allows."
        "add it to the output schema's `properties`, or mend its name"
    MEMBER_MISSING 138 Error "member_missing"
        "The output schema requires a member that `output` does not have."
        "add it to `output`, or take it out of `required`"
    MEMBER_UNCERTAIN 139 Error "member_uncertain"
        "The output schema requires a member that a result may lack."
        "take it out of `required`, or take its value from what is always there"

    EFFECT_IGNORED 190 Warning "effect_ignored"
        "An effect is declared that is milder than what the name says, without a reason, so that the name stands."
        "add `because:` with the reason, declare what the name says, or rename the action"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_rise_and_names_are_unique() {
        assert!(RULES.windows(2).all(|pair| pair[0].code < pair[1].code));
        let names: std::collections::BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
    }

    #[test]
    fn a_way_out_is_a_fragment_and_a_meaning_is_a_sentence() {
        for rule in RULES {
            assert!(rule.meaning.ends_with('.') && !rule.meaning.contains('\n'), "{}", rule.name);
            assert!(!rule.way_out.ends_with('.') && !rule.way_out.is_empty(), "{}", rule.name);
        }
    }
}
