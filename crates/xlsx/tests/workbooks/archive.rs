//! Zip archives part by part, as a hostile writer would make them.

use std::path::Path;

use flate2::{Compress, Compression, Crc, FlushCompress};

/// An archive that grows.
#[derive(Default)]
pub(crate) struct Archive {
    out: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

/// What the directory says of a part, when it lies.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lie {
    pub(crate) size: Option<u32>,
    pub(crate) checksum: Option<u32>,
    pub(crate) encrypted: bool,
}

impl Archive {
    pub(crate) fn part(self, name: &str, content: impl AsRef<[u8]>) -> Archive {
        self.lying(name, content, Lie::default())
    }

    pub(crate) fn lying(self, name: &str, content: impl AsRef<[u8]>, lie: Lie) -> Archive {
        let content = content.as_ref();
        let mut checksum = Crc::new();
        checksum.update(content);
        let checksum = lie.checksum.unwrap_or(checksum.sum());
        self.raw(name, &deflate(content), lie.size.unwrap_or(content.len() as u32), checksum, lie.encrypted)
    }

    /// A part whose compressed bytes are given.
    pub(crate) fn raw(mut self, name: &str, packed: &[u8], size: u32, checksum: u32, encrypted: bool) -> Archive {
        let at = self.out.len() as u32;
        let mut head = vec![20, 0, u8::from(encrypted), 0, 8, 0, 0, 0, 0x21, 0];
        head.extend(checksum.to_le_bytes());
        head.extend((packed.len() as u32).to_le_bytes());
        head.extend(size.to_le_bytes());
        head.extend((name.len() as u16).to_le_bytes());
        head.extend([0, 0]);
        self.out.extend(b"PK\x03\x04");
        self.out.extend(&head);
        self.out.extend(name.as_bytes());
        self.out.extend(packed);
        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&head);
        self.directory.extend([0; 10]);
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count += 1;
        self
    }

    pub(crate) fn bytes(mut self) -> Vec<u8> {
        let at = self.out.len() as u32;
        self.out.extend(&self.directory);
        self.out.extend(b"PK\x05\x06\x00\x00\x00\x00");
        self.out.extend(self.count.to_le_bytes());
        self.out.extend(self.count.to_le_bytes());
        self.out.extend((self.directory.len() as u32).to_le_bytes());
        self.out.extend(at.to_le_bytes());
        self.out.extend([0, 0]);
        self.out
    }

    pub(crate) fn save(self, folder: &Path, name: &str) {
        std::fs::write(folder.join(name), self.bytes()).unwrap();
    }
}

fn deflate(content: &[u8]) -> Vec<u8> {
    let mut compress = Compress::new(Compression::new(6), false);
    let mut out = Vec::with_capacity(content.len() / 2 + 1024);
    while compress.total_in() < content.len() as u64 {
        let rest = &content[compress.total_in() as usize..];
        compress.compress_vec(rest, &mut out, FlushCompress::None).unwrap();
        out.reserve(64 << 10);
    }
    while compress.compress_vec(&[], &mut out, FlushCompress::Finish).unwrap() != flate2::Status::StreamEnd {
        out.reserve(64 << 10);
    }
    out
}

/// The least that makes an `.xlsx`: one sheet, and whatever else.
pub(crate) fn xlsx(sheet: &str) -> Archive {
    xlsx_with(sheet, "")
}

/// An `.xlsx` of one sheet whose workbook part holds `more` behind its sheets.
pub(crate) fn xlsx_with(sheet: &str, more: &str) -> Archive {
    skeleton(more).part("xl/worksheets/sheet1.xml", sheet)
}

/// An `.xlsx` that lists a sheet and lacks its part.
pub(crate) fn skeleton(more: &str) -> Archive {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
    Archive::default()
        .part(
            "_rels/.rels",
            format!(
                r#"<Relationships xmlns="{relations}"><Relationship Id="r" Type="{kinds}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
            ),
        )
        .part(
            "xl/_rels/workbook.xml.rels",
            format!(
                r#"<Relationships xmlns="{relations}"><Relationship Id="s1" Type="{kinds}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#
            ),
        )
        .part(
            "xl/workbook.xml",
            format!(
                r#"<workbook xmlns="{main}" xmlns:r="{kinds}">{more}<sheets><sheet name="One" sheetId="1" r:id="s1"/></sheets></workbook>"#
            ),
        )
}

/// A sheet's part around its rows.
pub(crate) fn sheet(rows: &str) -> String {
    format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")
}
