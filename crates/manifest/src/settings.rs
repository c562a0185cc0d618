//! Reads `gatelatch.yaml`, as strictly as a manifest. What the settings mean is for whoever reads them. Start at
//! [`settings`].

use crate::document::SettingsManifest;
use crate::findings::Findings;
use crate::keys::Keys;
use crate::reference::SETTINGS;
use crate::shape::check_block;
use crate::yaml;

/// The settings of a file's text. What is wrong is reported; the settings then hold for no one. An empty file sets
/// nothing.
pub(crate) fn settings(text: &str, findings: &mut Findings<'_, '_>) -> Option<SettingsManifest> {
    let Some(root) = yaml::parse(text, 1, 0, findings) else { return Some(SettingsManifest::default()) };
    check_block(&root, &SETTINGS, findings);
    let keys = Keys::of(&root)?;
    Some(SettingsManifest {
        catalog: keys.texts("catalog"),
        confirm: keys.text("confirm").map(str::to_owned),
        deny_irreversible: keys.flag("deny_irreversible"),
        capabilities_max_bytes: keys.whole("capabilities_max_bytes"),
        chat_surface: keys.text("chat_surface").map(str::to_owned),
        log: keys.text("log").map(str::to_owned),
    })
}
