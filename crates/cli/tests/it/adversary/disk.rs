//! A disk that can be full.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::copy_folder;
use super::inputs::Inputs;

/// What a file system in memory gives out at once.
pub(crate) const PAGE: usize = 4096;

/// A small file system in memory with a copy of the inputs. It can be made where this test may mount one.
pub(crate) struct Disk {
    folder: TempDir,
}

impl Disk {
    pub(crate) fn can_be_made() -> bool {
        let Ok(folder) = tempfile::tempdir() else { return false };
        let mounted = mount(folder.path(), "size=64k");
        let _ = Command::new("umount").arg(folder.path()).stderr(Stdio::null()).status();
        mounted
    }

    pub(crate) fn with(inputs: &Inputs) -> Self {
        let disk = Self { folder: tempfile::tempdir().unwrap() };
        assert!(mount(disk.path(), "size=256m"));
        copy_folder(inputs.folder.path(), disk.path());
        fs::create_dir(disk.path().join("out")).unwrap();
        disk
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves that many bytes free.
    pub(crate) fn leave(&self, bytes: usize) {
        let output = Command::new("df").args(["--output=used", "-B1"]).arg(self.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let used: usize = text.lines().last().unwrap().trim().parse().unwrap();
        assert!(mount(self.path(), &format!("remount,size={}", (used + bytes).max(PAGE))));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

fn mount(folder: &Path, options: &str) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder).stderr(Stdio::null());
    mount.status().is_ok_and(|status| status.success())
}
