//! A client that blocks.

use std::{thread::sleep, time::Duration};

use nebula_wire::{
    DataSet, Value,
    client::{ClientError, ConnectOptions, Connection},
};

use super::wait;

/// A blocking client.
#[derive(Debug)]
pub struct Client {
    runtime: tokio::runtime::Runtime,
    connection: Connection,
    pub session: i64,
}

pub type Answer = Result<Option<DataSet>, (i32, String)>;

impl Client {
    pub fn connect(port: u16) -> Self {
        Self::try_connect(port).expect("a session")
    }

    /// Why there is no session else.
    pub fn try_connect(port: u16) -> Result<Self, ClientError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("runtime");
        let address = format!("127.0.0.1:{port}");
        let (connection, session) = runtime.block_on(async {
            let options = ConnectOptions::default();
            let mut connection = Connection::connect(&address, &options).await?;
            let session = connection.authenticate("root", "nebula").await?;
            Ok::<_, ClientError>((connection, session.id))
        })?;
        Ok(Self {
            runtime,
            connection,
            session,
        })
    }

    /// A further session on the same connection.
    pub fn authenticate(&mut self, user: &str, password: &str) -> Result<i64, (i32, String)> {
        let made = self
            .runtime
            .block_on(self.connection.authenticate(user, password));
        match made {
            Ok(session) => Ok(session.id),
            Err(ClientError::Refused { code, message, .. }) => Err((code, message)),
            Err(error) => Err((0, error.to_string())),
        }
    }

    /// Ends a session.
    pub fn sign_out(&mut self, session: i64) {
        let sent = self.runtime.block_on(self.connection.signout(session));
        sent.expect("signout");
    }

    /// Runs a statement; a broken connection is error 0.
    pub fn run(&mut self, statement: &str) -> Answer {
        self.runtime.block_on(async {
            let reply = self
                .connection
                .execute(self.session, statement.as_bytes())
                .await;
            let reply = reply.map_err(|error| (0, error.to_string()))?;
            if reply.is_ok() {
                return Ok(reply.data().expect("decodes"));
            }
            Err((reply.code(), reply.error_text().into_owned()))
        })
    }

    /// The table of a statement that must succeed (empty when it has none).
    pub fn ok(&mut self, statement: &str) -> DataSet {
        match self.run(statement) {
            Ok(table) => table.unwrap_or_default(),
            Err(error) => panic!("{statement}: {error:?}"),
        }
    }

    /// Repeats a statement until it succeeds: schema changes take a heartbeat to arrive.
    pub fn until(&mut self, statement: &str) -> DataSet {
        let mut last = None;
        for _ in 0..400 {
            match self.run(statement) {
                Ok(table) => return table.unwrap_or_default(),
                Err(error) => last = Some(error),
            }
            sleep(Duration::from_millis(50));
        }
        panic!("{statement}: {last:?}");
    }

    /// Code and text of a statement that must fail.
    pub fn fails(&mut self, statement: &str) -> (i32, String) {
        match self.run(statement) {
            Ok(table) => panic!("{statement} succeeded: {table:?}"),
            Err(error) => error,
        }
    }

    /// Runs a job to its end.
    pub fn job(&mut self, statement: &str) {
        let id = self.ok(statement).rows[0][0].as_int().expect("job id");
        wait(statement, || {
            let table = self.ok(&format!("SHOW JOB {id}"));
            table.rows[0][2] == Value::from("FINISHED")
        });
    }

    /// Rows of `SHOW STATS` as (name, count), once graphd knows them.
    pub fn counts(&mut self) -> Vec<(String, i64)> {
        self.job("SUBMIT JOB STATS");
        // The numbers come with the next heartbeat.
        sleep(Duration::from_millis(1700));
        let table = self.until("SHOW STATS");
        let row = |row: &Vec<Value>| {
            (
                row[1].as_str().expect("name").to_owned(),
                row[2].as_int().expect("count"),
            )
        };
        table.rows.iter().map(row).collect()
    }
}
