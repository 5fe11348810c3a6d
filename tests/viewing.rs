//! `speclens view`: it ends with its terminal, and with the program that started it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
};

use crate::{
    processes::send,
    support::{Place, suite},
};

/// Starts the program here, and returns it with the address that it prints.
fn viewed(place: &Place, options: &[&str]) -> (Child, String) {
    let mut program = place.program(&[&["view"], options].concat());
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut view = program.spawn().unwrap();
    let mut address = String::new();
    BufReader::new(view.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
    (view, address.trim().to_owned())
}

/// Returns the answer to a request for a path, with this host.
fn ask(address: &str, path: &str, host: &str) -> String {
    let server = address.trim_start_matches("http://").split('/').next().unwrap();
    let mut stream = TcpStream::connect(server).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn page_has_the_recorded_results_and_no_other_address_is_found() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    place.run(&["run"]);
    let (mut view, address) = viewed(&place, &[]);
    let (host, path) = address.trim_start_matches("http://").split_once('/').unwrap();
    let path = format!("/{path}");
    let page = ask(&address, &path, host);
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("1 test: 1 passed"), "{page}");
    assert!(page.contains("frame-ancestors 'none'") && page.contains("no-store"), "{page}");
    assert!(page.contains("script-src &#39;sha256-") && page.matches("<script>").count() == 1, "{page}");
    for (path, host) in [("/", host), (path.as_str(), "example.com"), (path.trim_end_matches('/'), host)] {
        assert!(ask(&address, path, host).starts_with("HTTP/1.1 404"), "{path} {host}");
    }
    drop(view.stdin.take());
    assert_eq!(view.wait().unwrap().code(), Some(0), "the end of its input ends it");
}

#[test]
fn signal_ends_the_page() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    for signal in ["TERM", "INT"] {
        let (mut view, _) = viewed(&place, &["kindlm.yaml"]);
        send(signal, view.id());
        assert_eq!(view.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn test_that_does_not_exist_is_an_error() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    assert_eq!(place.run(&["view", "--test", "missing"]).code, Some(2));
}
