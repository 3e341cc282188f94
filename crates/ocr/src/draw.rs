//! Pages of PDFs to pictures, drawn in a thread of its own: the drawing goes as deep as the file says, which needs a
//! large stack, and cannot be interrupted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use documents::PictureError;
use documents::pdf::StopSignal;
use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};

use crate::picture::Picture;

/// Dots to the inch that are enough for small print.
const MAX_SCALE: f32 = 300.0 / 72.0;
/// A page of A4 at 200 dots to the inch has four million.
const MAX_PAGE_PIXELS: f32 = 4_500_000.0;
const MAX_PAGE_SIDE: f32 = 8_000.0;
const STACK_BYTES: usize = 64 * 1024 * 1024;
/// A page that takes longer is given up, so that the others are read.
const MAX_DRAWING_TIME: Duration = Duration::from_secs(20);

/// Draws pages of one PDF. After a page that took too long no other can be drawn; its thread ends with the process.
#[derive(Debug)]
pub struct PageDrawer {
    pages: Sender<u32>,
    pictures: Receiver<Result<Picture, PictureError>>,
    gave_up: bool,
}

impl PageDrawer {
    /// Opens a PDF. Whether it can be drawn is found out with its first page.
    pub fn open(bytes: &[u8], password: Option<&str>) -> Result<Self, PictureError> {
        let (pages, wanted) = channel();
        let (drawn, pictures) = channel();
        let (bytes, password) = (bytes.to_vec(), password.unwrap_or_default().to_owned());
        thread::Builder::new()
            .name("draw-pages".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || draw_pages(bytes, &password, &wanted, &drawn))
            .map_err(|error| PictureError::damaged(format!("no thread for drawing ({error})")))?;
        Ok(Self { pages, pictures, gave_up: false })
    }

    /// Draws a page, numbered from 1.
    pub fn draw(&mut self, number: u32, stop: &StopSignal<'_>) -> Result<Picture, PictureError> {
        if self.gave_up {
            return Err(PictureError::damaged("a page before it could not be drawn in time"));
        }
        let closed = || PictureError::damaged("it could not be drawn");
        self.pages.send(number).map_err(|_| closed())?;
        let latest = Instant::now() + MAX_DRAWING_TIME;
        let until = stop.deadline.map_or(latest, |deadline| deadline.min(latest));
        match self.pictures.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(picture) => picture,
            Err(RecvTimeoutError::Disconnected) => Err(closed()),
            Err(RecvTimeoutError::Timeout) => {
                self.gave_up = true;
                let out_of_time = stop.is_set();
                Err(if out_of_time {
                    PictureError::Stopped
                } else {
                    PictureError::damaged("drawing it takes too long")
                })
            }
        }
    }
}

/// The work of the thread, until nobody wants another page.
fn draw_pages(
    bytes: Vec<u8>,
    password: &str,
    wanted: &Receiver<u32>,
    drawn: &Sender<Result<Picture, PictureError>>,
) {
    let opened = catch_unwind(AssertUnwindSafe(|| Pdf::new_with_password(bytes, password)));
    let pdf = match opened {
        Ok(Ok(pdf)) => Ok(pdf),
        Ok(Err(_)) => Err(PictureError::damaged("the PDF could not be opened for drawing")),
        Err(_) => Err(PictureError::damaged("its structure makes no sense")),
    };
    for number in wanted {
        let picture = match &pdf {
            Ok(pdf) => catch_unwind(AssertUnwindSafe(|| draw_page(pdf, number)))
                .unwrap_or_else(|_| Err(PictureError::damaged("its structure makes no sense"))),
            Err(error) => Err(error.clone()),
        };
        if drawn.send(picture).is_err() {
            return;
        }
    }
}

fn draw_page(pdf: &Pdf, number: u32) -> Result<Picture, PictureError> {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let page = index
        .and_then(|index| pdf.pages().get(index))
        .ok_or_else(|| PictureError::damaged("the page is missing"))?;
    let scale = page_scale(page.render_dimensions())?;
    let settings = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let pixmap = render(
        page,
        &RenderCache::new(),
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &settings,
    );
    let (width, height) = (usize::from(pixmap.width()), usize::from(pixmap.height()));
    let rgb =
        pixmap.data_as_u8_slice().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    Picture::from_rgb(width, height, rgb).ok_or_else(|| PictureError::damaged("the page has no size"))
}

/// Pixels for a point: fine enough for OCR, within the limits.
fn page_scale((width, height): (f32, f32)) -> Result<f32, PictureError> {
    if !(width.is_finite() && height.is_finite() && width >= 1.0 && height >= 1.0) {
        return Err(PictureError::damaged("the page has no size"));
    }
    let scale =
        MAX_SCALE.min((MAX_PAGE_PIXELS / (width * height)).sqrt()).min(MAX_PAGE_SIDE / width.max(height));
    // Less than a pixel for a side is no picture.
    if width.min(height) * scale < 1.0 {
        return Err(PictureError::TooLarge(format!("a page of {width:.0} × {height:.0} points")));
    }
    Ok(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of this size with a black square in its lower left quarter.
    fn pdf(size: &str) -> Vec<u8> {
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size}] /Contents 4 0 R >>"),
            "<< /Length 21 >>\nstream\n0 g 0 0 100 100 re f \nendstream".to_owned(),
        ];
        let mut bytes = b"%PDF-1.4\n".to_vec();
        let mut places = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            places.push(bytes.len());
            bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).bytes());
        }
        let table = bytes.len();
        bytes.extend(b"xref\n0 5\n0000000000 65535 f \n");
        for place in places {
            bytes.extend(format!("{place:010} 00000 n \n").bytes());
        }
        bytes.extend(format!("trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n").bytes());
        bytes
    }

    fn draw(bytes: &[u8], number: u32) -> Result<Picture, PictureError> {
        PageDrawer::open(bytes, None)?.draw(number, &StopSignal::default())
    }

    #[test]
    fn page_is_drawn_on_white() {
        let picture = draw(&pdf("200 200"), 1).expect("a picture");
        assert_eq!(picture.width(), picture.height());
        assert_eq!(picture.rgb()[..3], [255, 255, 255]);
        let last_row = picture.rgb().len() - picture.width() * 3;
        assert_eq!(picture.rgb()[last_row..last_row + 3], [0, 0, 0]);
    }

    #[test]
    fn pages_of_any_size_stay_within_the_limits() {
        for size in ["14400 14400", "10 14400", "1 1", "0.5 0.5", "-3 0", "100000000 100000000"] {
            if let Ok(picture) = draw(&pdf(size), 1) {
                assert!(picture.width() * picture.height() <= 4_600_000, "{size}");
            }
        }
    }

    #[test]
    fn what_is_no_page_is_an_error() {
        assert!(draw(&pdf("200 200"), 2).is_err());
        assert!(draw(&pdf("200 200"), 0).is_err());
        assert!(draw(b"%PDF-1.4 nothing", 1).is_err());
        assert!(draw(b"", 1).is_err());
    }

    #[test]
    fn no_time_left_is_said_as_such() {
        let mut drawer = PageDrawer::open(&pdf("200 200"), None).expect("a drawer");
        let stop = StopSignal { deadline: Some(Instant::now()), flag: None };
        // The picture may still be there in time.
        if let Err(error) = drawer.draw(1, &stop) {
            assert_eq!(error, PictureError::Stopped);
        }
    }
}
