//! The terminal, taken over while it is looked at, and given back however that ends.

use std::{io, thread};

use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::Paragraph,
};
use tokio::{
    sync::mpsc::{self, Receiver},
    time::{Instant, sleep_until},
};

use super::{
    figures::Figures,
    view::{self, Mood, Row},
};
use crate::cli::{Failure, output::wants_colour};

/// A screen of its own: what was there before comes back.
#[derive(Debug)]
pub(super) struct Screen {
    terminal: DefaultTerminal,
    events: Receiver<io::Result<Event>>,
    has_colours: bool,
    lines: Vec<Line<'static>>,
}

impl Screen {
    pub(super) fn open() -> Result<Self, Failure> {
        // It also sees to a panic, after which the terminal is to be what it was.
        let terminal = ratatui::try_init().map_err(|error| no_terminal(&error))?;
        let (told, events) = mpsc::channel(16);
        // Nothing else can be done while a terminal is read: it goes on until the program ends.
        thread::spawn(move || while told.blocking_send(event::read()).is_ok() {});
        Ok(Self { terminal, events, has_colours: wants_colour(), lines: vec![Line::raw("a moment …")] })
    }

    /// Waits; answers whether whoever looks has seen enough.
    pub(super) async fn until(&mut self, next: Instant) -> Result<bool, Failure> {
        self.draw()?;
        loop {
            tokio::select! {
                () = sleep_until(next) => return Ok(false),
                event = self.events.recv() => match event {
                    Some(Ok(Event::Key(key))) if ends(key) => return Ok(true),
                    Some(Ok(Event::Resize(..))) => self.draw()?,
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(no_terminal(&error)),
                    None => return Ok(true),
                },
            }
        }
    }

    pub(super) fn show(&mut self, place: &str, figures: &Figures) -> Result<(), Failure> {
        let title = Span::styled(format!("forebay top  {place}"), Style::new().add_modifier(Modifier::BOLD));
        let rows = view::rows(figures);
        self.lines = vec![Line::from(vec![title, Span::raw("   q ends it")]), Line::default()];
        self.lines.extend(rows.into_iter().map(|row| line(row, self.has_colours)));
        self.draw()
    }

    /// Says that nobody answers any more, over what was seen last.
    pub(super) fn lose(&mut self, failure: &Failure) -> Result<(), Failure> {
        let style = if self.has_colours { Style::new().fg(Color::Red) } else { Style::new() };
        let lost = Line::styled(format!("{failure}"), style);
        if let Some(second) = self.lines.get_mut(1) {
            *second = lost;
        }
        self.draw()
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let paragraph = Paragraph::new(self.lines.clone());
        let drawn = self.terminal.draw(|frame| frame.render_widget(paragraph, frame.area()));
        drawn.map(drop).map_err(|error| no_terminal(&error))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn line(Row { about, text, mood }: Row, has_colours: bool) -> Line<'static> {
    let colour = match mood {
        Mood::Good => Some(Color::Green),
        Mood::Doubtful => Some(Color::Yellow),
        Mood::Bad => Some(Color::Red),
        Mood::Plain => None,
    };
    let style = colour.filter(|_| has_colours).map_or(Style::new(), |colour| Style::new().fg(colour));
    Line::from(vec![Span::raw(format!("{about:<11} ")), Span::styled(text, style)])
}

fn ends(key: KeyEvent) -> bool {
    let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press && (is_interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc))
}

fn no_terminal(error: &io::Error) -> Failure {
    let remedy = "use --once or --json where there is none";
    Failure::Undone(format!("cannot use the terminal: {error}; {remedy}"))
}
