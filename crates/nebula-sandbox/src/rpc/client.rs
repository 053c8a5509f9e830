//! Client side: one connection per peer, opened when needed, shared by all callers.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::{FAILED, MAX_FRAME, OK, frame_head, put_frame, wire::Reader};

/// Why a call has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    #[error("cannot connect to {0}: {1}")]
    Connect(String, String),
    #[error("connection to {0} closed")]
    Closed(String),
    #[error("{0} did not answer in time")]
    Timeout(String),
    #[error("{text}")]
    Remote { code: i32, text: String },
}

type Answer = (u8, Bytes);
/// Callers in the order of their requests, which is that of the answers.
type Waiting = Arc<Mutex<VecDeque<(u32, oneshot::Sender<Answer>)>>>;

#[derive(Debug, Clone)]
struct Link {
    requests: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Waiting,
    /// Nothing will be answered any more.
    ended: Arc<AtomicBool>,
}

impl Link {
    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) || self.requests.is_closed()
    }
}

/// A peer.
#[derive(Debug)]
pub struct Client {
    address: String,
    limit: Duration,
    next: AtomicU32,
    link: tokio::sync::Mutex<Option<Link>>,
}

impl Client {
    /// A client for `host:port`; nothing is opened yet.
    pub fn new(address: impl Into<String>, limit: Duration) -> Self {
        Self {
            address: address.into(),
            limit,
            next: AtomicU32::new(1),
            link: tokio::sync::Mutex::new(None),
        }
    }

    /// Sends a request and waits for its answer. Nothing is sent twice.
    pub async fn call(&self, op: u8, body: &[u8]) -> Result<Bytes, CallError> {
        let link = self.link().await?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, wait) = oneshot::channel();
        let mut frame = Vec::with_capacity(body.len() + 16);
        put_frame(&mut frame, number, op, body);
        {
            // The end may come between taking the link and waiting on it; whoever waits then is never told.
            let mut waiting = lock(&link.waiting);
            if link.ended.load(Ordering::Acquire) || link.requests.send(frame).is_err() {
                return Err(CallError::Closed(self.address.clone()));
            }
            waiting.push_back((number, answer));
        }
        match timeout(self.limit, wait).await {
            Ok(Ok((status, body))) => self.check(status, body),
            Ok(Err(_)) => Err(CallError::Closed(self.address.clone())),
            // Its place in the queue stays: the answer may still come, and is dropped then.
            Err(_) => Err(CallError::Timeout(self.address.clone())),
        }
    }

    fn check(&self, status: u8, body: Bytes) -> Result<Bytes, CallError> {
        if status == OK {
            return Ok(body);
        }
        let mut reader = Reader::new(&body);
        let code = reader.i32().unwrap_or(-8000);
        let text = String::from_utf8_lossy(reader.rest()).into_owned();
        debug_assert_eq!(status, FAILED, "{}", self.address);
        Err(CallError::Remote { code, text })
    }

    async fn link(&self) -> Result<Link, CallError> {
        let mut slot = self.link.lock().await;
        if let Some(link) = slot.as_ref().filter(|link| !link.has_ended()) {
            return Ok(link.clone());
        }
        let link = self
            .open()
            .await
            .map_err(|error| CallError::Connect(self.address.clone(), error.to_string()))?;
        *slot = Some(link.clone());
        Ok(link)
    }

    async fn open(&self) -> io::Result<Link> {
        let connect = TcpStream::connect(&self.address);
        let stream = timeout(self.limit.min(Duration::from_secs(2)), connect)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        stream.set_nodelay(true)?;
        let (read, write) = stream.into_split();
        let (requests, queue) = mpsc::unbounded_channel();
        let waiting = Waiting::default();
        let ended = Arc::<AtomicBool>::default();
        // Either half ending ends both: the writer owns the queue, the reader makes it stop.
        let (stop, stopped) = oneshot::channel();
        drop(tokio::spawn(write_requests(write, queue, stopped)));
        let link = Link {
            requests,
            waiting: Arc::clone(&waiting),
            ended: Arc::clone(&ended),
        };
        drop(tokio::spawn(read_answers(read, waiting, ended, stop)));
        Ok(link)
    }
}

fn lock(waiting: &Waiting) -> MutexGuard<'_, VecDeque<(u32, oneshot::Sender<Answer>)>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write_requests(
    mut write: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            count = queue.recv_many(&mut batch, 64) => if count == 0 { return },
            _ = &mut stopped => return,
        }
        let sent = match batch.as_slice() {
            [one] => write.write_all(one).await,
            many => write.write_all(&many.concat()).await,
        };
        if sent.is_err() {
            return;
        }
        batch.clear();
    }
}

async fn read_answers(
    mut read: OwnedReadHalf,
    waiting: Waiting,
    ended: Arc<AtomicBool>,
    stop: oneshot::Sender<()>,
) {
    let mut buffer = BytesMut::with_capacity(64 << 10);
    while let Ok(true) = read_some(&mut read, &mut buffer).await {
        if !hand_out(&mut buffer, &mut lock(&waiting)) {
            break;
        }
    }
    {
        let mut waiting = lock(&waiting);
        ended.store(true, Ordering::Release);
        waiting.clear();
    }
    stop.send(()).ok();
}

/// Gives every whole answer to its caller; false when one comes out of turn.
fn hand_out(buffer: &mut BytesMut, waiting: &mut VecDeque<(u32, oneshot::Sender<Answer>)>) -> bool {
    while let Some((whole, number, status)) = frame_head(buffer) {
        if whole > MAX_FRAME {
            return false;
        }
        if buffer.len() < whole {
            break;
        }
        let mut frame = buffer.split_to(whole).freeze();
        let body = frame.split_off(super::HEAD);
        match waiting.pop_front() {
            Some((asked, answer)) if asked == number => drop(answer.send((status, body))),
            _ => return false,
        }
    }
    true
}

async fn read_some(read: &mut OwnedReadHalf, buffer: &mut BytesMut) -> io::Result<bool> {
    buffer.reserve(16 << 10);
    Ok(read.read_buf(buffer).await? > 0)
}

/// Clients by address.
#[derive(Debug)]
pub struct Pool {
    limit: Duration,
    clients: Mutex<HashMap<String, Arc<Client>>>,
}

impl Pool {
    /// An empty pool whose clients wait at most `limit` for an answer.
    pub fn new(limit: Duration) -> Self {
        Self {
            limit,
            clients: Mutex::default(),
        }
    }

    /// The client for an address.
    pub fn get(&self, address: &str) -> Arc<Client> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(address) {
            return Arc::clone(client);
        }
        let client = Arc::new(Client::new(address, self.limit));
        clients.insert(address.to_owned(), Arc::clone(&client));
        client
    }
}
