//! Whether a write would have to wait for the client, where the system can tell: pipes on Linux. Knows no message.
//!
//! A pipe that is empty takes its whole capacity at once. Where that is sure, an answer needs no change of thread,
//! which costs about as much as all else that a small call does; elsewhere the writer's thread does the waiting.

#[cfg(target_os = "linux")]
pub(crate) use linux::Probe;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Probe;

#[cfg(target_os = "linux")]
mod linux {
    use std::any::Any;
    use std::io::{PipeWriter, Stdout};
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::io::ioctl_fionread;
    use rustix::pipe::fcntl_getpipe_size;

    /// Asks one pipe.
    pub(crate) struct Probe {
        pipe: OwnedFd,
        capacity: usize,
    }

    impl Probe {
        /// A probe of an output that is a pipe.
        pub(crate) fn of(output: &dyn Any) -> Option<Probe> {
            let output = match (output.downcast_ref::<Stdout>(), output.downcast_ref::<PipeWriter>()) {
                (Some(stdout), _) => stdout.as_fd(),
                (None, Some(pipe)) => pipe.as_fd(),
                (None, None) => return None,
            };
            let capacity = fcntl_getpipe_size(output).ok()?;
            Some(Probe { pipe: output.try_clone_to_owned().ok()?, capacity })
        }

        /// Whether so many bytes can be written without waiting, as long as nobody else writes.
        pub(crate) fn takes(&self, bytes: usize) -> bool {
            bytes <= self.capacity && ioctl_fionread(&self.pipe) == Ok(0)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::any::Any;

    /// Nothing can be asked.
    pub(crate) enum Probe {}

    impl Probe {
        pub(crate) fn of(_output: &dyn Any) -> Option<Probe> {
            None
        }

        pub(crate) fn takes(&self, _bytes: usize) -> bool {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read, Write, pipe};

    use super::Probe;

    #[test]
    fn a_pipe_takes_at_once_what_fits_in_it_while_it_is_empty_and_nothing_else() {
        let (mut reader, mut writer) = pipe().unwrap();
        let probe = Probe::of(&writer).unwrap();
        let capacity = rustix::pipe::fcntl_getpipe_size(&writer).unwrap();
        assert!(probe.takes(capacity));
        assert!(!probe.takes(capacity + 1));
        // It is true: this would hang otherwise.
        writer.write_all(&vec![b'x'; capacity]).unwrap();
        assert!(!probe.takes(1));
        reader.read_exact(&mut vec![0; capacity - 1]).unwrap();
        assert!(!probe.takes(1));
        reader.read_exact(&mut [0]).unwrap();
        assert!(probe.takes(capacity));
    }

    #[test]
    fn what_is_no_pipe_has_no_probe() {
        assert!(Probe::of(&Vec::<u8>::new()).is_none());
    }
}
