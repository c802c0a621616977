//! A motion as NumPy's `.npz`: a zip archive of stored entries, one `.npy` array of float64 per column.

use zwang::Samples;

/// The archive; `numpy.load(file)["x_dot"]` is the column of that name.
///
/// Fails above 4 GB, the limit of the plain zip format.
pub fn npz(samples: &Samples) -> Result<Vec<u8>, String> {
    let size: usize = samples.columns.iter().map(|c| 8 * c.values.len() + 2 * c.name.len() + 300).sum();
    if u32::try_from(size).is_err() || samples.columns.len() > usize::from(u16::MAX) {
        return Err("the motion is too large for .npz; write .parquet or sample it less often".into());
    }
    let mut out = Vec::with_capacity(size);
    let mut directory = Vec::new();
    for column in &samples.columns {
        let (name, array) = (format!("{}.npy", column.name), npy(&column.values));
        let entry = ArchiveFile { name: &name, crc: crc32fast::hash(&array), size: array.len() as u32 };
        directory.extend(entry.central(out.len() as u32));
        out.extend(entry.local());
        out.extend(array);
    }
    let (start, n) = (out.len() as u32, samples.columns.len() as u16);
    out.extend(&directory);
    out.extend(end(n, directory.len() as u32, start));
    Ok(out)
}

/// A `.npy` file, version 1.0: magic, version, header padded to 64 bytes, little-endian values.
fn npy(values: &[f64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", values.len());
    let unpadded = 10 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.bytes());
    out.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    out
}

/// One stored file of the archive.
struct ArchiveFile<'a> {
    name: &'a str,
    crc: u32,
    size: u32,
}

impl ArchiveFile<'_> {
    fn local(&self) -> Vec<u8> {
        [&b"PK\x03\x04"[..], &self.common(), self.name.as_bytes()].concat()
    }

    fn central(&self, offset: u32) -> Vec<u8> {
        // created by version 2.0; no comment, disk 0, no attributes
        let mut out = [&b"PK\x01\x02\x14\x00"[..], &self.common(), &[0; 10]].concat();
        out.extend(offset.to_le_bytes());
        out.extend(self.name.bytes());
        out
    }

    /// Version 2.0, no flags, stored, dated 1980-01-01 so that equal motions give equal bytes.
    fn common(&self) -> Vec<u8> {
        let mut out = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        for word in [self.crc, self.size, self.size] {
            out.extend(word.to_le_bytes());
        }
        out.extend((self.name.len() as u16).to_le_bytes());
        out.extend([0, 0]);
        out
    }
}

/// The end record of the directory.
fn end(n: u16, size: u32, start: u32) -> Vec<u8> {
    let mut out = b"PK\x05\x06\0\0\0\0".to_vec();
    out.extend([n.to_le_bytes(), n.to_le_bytes()].concat());
    out.extend([size.to_le_bytes(), start.to_le_bytes()].concat());
    out.extend([0, 0]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwang::Column;

    /// The sizes of a local header and of a directory entry up to the name, in bytes.
    const LOCAL: usize = 30;
    const CENTRAL: usize = 46;

    fn example() -> Samples {
        let column = |name: &str, values: Vec<f64>| Column { name: name.into(), values, ..Default::default() };
        Samples { columns: vec![column("t", vec![0.0, 0.1]), column("x_dot", vec![1.0 / 3.0, f64::NAN])] }
    }

    fn word(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    fn half(bytes: &[u8], at: usize) -> usize {
        usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()))
    }

    /// Follows the directory at the end to every entry and reads its array.
    fn read(bytes: &[u8]) -> Vec<(String, Vec<f64>)> {
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
        let (n, size, mut at) = (half(bytes, end + 10), word(bytes, end + 12), word(bytes, end + 16));
        assert_eq!(at + size, end);
        let mut entries = Vec::new();
        for _ in 0..n {
            assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
            let (length, local) = (half(bytes, at + 28), word(bytes, at + 42));
            assert_eq!(bytes[at + 6..at + 32], bytes[local + 4..local + 30], "the headers disagree");
            let name = std::str::from_utf8(&bytes[at + CENTRAL..at + CENTRAL + length]).unwrap();
            let data = &bytes[local + LOCAL + length..][..word(bytes, local + 18)];
            assert_eq!(word(bytes, local + 14), crc32fast::hash(data) as usize);
            entries.push((name.to_string(), array(data)));
            at += CENTRAL + length;
        }
        entries
    }

    fn array(npy: &[u8]) -> Vec<f64> {
        assert_eq!(&npy[..8], b"\x93NUMPY\x01\x00");
        let start = 10 + half(npy, 8);
        assert_eq!(start % 64, 0);
        assert_eq!(npy[start - 1], b'\n');
        npy[start..].chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect()
    }

    #[test]
    fn the_archive_holds_every_column() {
        let entries = read(&npz(&example()).unwrap());
        assert_eq!(entries.iter().map(|e| e.0.as_str()).collect::<Vec<_>>(), ["t.npy", "x_dot.npy"]);
        assert_eq!(entries[0].1, [0.0, 0.1]);
        assert!(entries[1].1[0] == 1.0 / 3.0 && entries[1].1[1].is_nan());
    }
}
