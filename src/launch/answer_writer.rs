//! Our stdout, written by a thread of its own: a reader that has stopped holds up the answer, but
//! neither signals nor the engine's end. Order is kept; nothing is written twice.

use std::io::Write;

use tokio::sync::{mpsc, oneshot};

/// Chunks that may wait; beyond them the engine's output is left unread.
const QUEUE: usize = 4;

/// The sending side.
pub(super) struct AnswerWriter {
    queue: Option<mpsc::Sender<Vec<u8>>>,
    ended: oneshot::Receiver<()>,
}

impl AnswerWriter {
    /// Starts the thread.
    pub(super) fn start() -> AnswerWriter {
        let (queue, mut chunks) = mpsc::channel::<Vec<u8>>(QUEUE);
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let mut out = std::io::stdout();
            while let Some(chunk) = chunks.blocking_recv() {
                if out.write_all(&chunk).and_then(|()| out.flush()).is_err() {
                    // The reader is gone; dropping the receiver tells the loop.
                    break;
                }
            }
            drop(chunks);
            let _ = end.send(());
        });
        AnswerWriter { queue: Some(queue), ended }
    }

    /// The next thing that happens: `bytes` are taken when there is room, or, after
    /// [`AnswerWriter::close`], all is written. Safe to cancel: `bytes` is emptied only when they
    /// are taken.
    pub(super) async fn step(&mut self, bytes: &mut Vec<u8>) -> Step {
        match &self.queue {
            Some(queue) => match queue.reserve().await {
                Ok(room) => {
                    room.send(std::mem::take(bytes));
                    Step::Taken
                }
                Err(_) => Step::ReaderGone,
            },
            None => {
                let _ = (&mut self.ended).await;
                Step::AllWritten
            }
        }
    }

    /// No more bytes come.
    pub(super) fn close(&mut self) {
        self.queue = None;
    }
}

/// What [`AnswerWriter::step`] saw.
pub(super) enum Step {
    /// The bytes are on their way.
    Taken,
    /// Our stdout is closed.
    ReaderGone,
    /// The thread is done.
    AllWritten,
}
