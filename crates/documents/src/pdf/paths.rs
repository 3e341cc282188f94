//! The lines and boxes that a page draws, read from its content stream.
//!
//! Forms are walked with an explicit stack.

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::content_tokens::{ContentTokens, Token};
use super::geometry::{Bounds, Rule};

/// Deepest nesting of saved graphics states and of forms inside forms.
const MAX_STATES: usize = 64;
const MAX_FORM_DEPTH: usize = 8;
const MAX_FORMS_PER_PAGE: usize = 400;
/// A page with more than this is a map or a drawing, not a table.
const MAX_PATHS_PER_PAGE: usize = 60_000;
const MAX_CONTENT_BYTES: usize = 32 << 20;
/// A filled rectangle this thin is a drawn line.
const MAX_RULE_THICKNESS: f32 = 3.0;
const MIN_RULE_LENGTH: f32 = 4.0;

/// What a page draws besides text, in the user space of the page (origin at the bottom left).
#[derive(Debug, Default)]
pub(super) struct Drawing {
    pub(super) horizontal: Vec<Rule>,
    pub(super) vertical: Vec<Rule>,
    /// Filled rectangles that are not lines.
    pub(super) filled: Vec<Bounds>,
    /// Pieces of text that are shown.
    pub(super) texts: usize,
}

type Matrix = [f32; 6];
const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

fn multiply(m: &Matrix, n: &Matrix) -> Matrix {
    [
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    ]
}

fn apply(m: &Matrix, x: f32, y: f32) -> (f32, f32) {
    (x * m[0] + y * m[2] + m[4], x * m[1] + y * m[3] + m[5])
}

/// Reads what page `page` draws; what cannot be read is left out.
pub(super) fn read_drawing(document: &Document, page: ObjectId) -> Drawing {
    let mut drawing = Drawing::default();
    let content = document.get_page_content_with_limit(page, MAX_CONTENT_BYTES).unwrap_or_default();
    let resources = page_resources(document, page);
    let mut readers = vec![ContentReader::new(content, resources, IDENTITY)];
    let mut forms = 0;
    while let Some(reader) = readers.last_mut() {
        match reader.next_form(&mut drawing) {
            None => {
                readers.pop();
            }
            Some((name, matrix)) => {
                let resources = reader.resources;
                if readers.len() >= MAX_FORM_DEPTH || forms >= MAX_FORMS_PER_PAGE {
                    continue;
                }
                if let Some((content, own_resources, own_matrix)) = load_form(document, resources, &name) {
                    forms += 1;
                    readers.push(ContentReader::new(
                        content,
                        own_resources.or(resources),
                        multiply(&own_matrix, &matrix),
                    ));
                }
            }
        }
        if drawing.horizontal.len() + drawing.vertical.len() + drawing.filled.len() > MAX_PATHS_PER_PAGE {
            return Drawing::default();
        }
    }
    drawing
}

fn resolve<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Object> {
    document.dereference(object).ok().map(|(_, object)| object)
}

fn page_resources(document: &Document, page: ObjectId) -> Option<&Dictionary> {
    let mut id = page;
    for _ in 0..32 {
        let dictionary = document.get_dictionary(id).ok()?;
        if let Ok(found) = dictionary.get(b"Resources") {
            return resolve(document, found)?.as_dict().ok();
        }
        id = dictionary.get(b"Parent").ok()?.as_reference().ok()?;
    }
    None
}

fn load_form<'a>(
    document: &'a Document,
    resources: Option<&'a Dictionary>,
    name: &[u8],
) -> Option<(Vec<u8>, Option<&'a Dictionary>, Matrix)> {
    let objects = resolve(document, resources?.get(b"XObject").ok()?)?.as_dict().ok()?;
    let stream = resolve(document, objects.get(name).ok()?)?.as_stream().ok()?;
    if stream.dict.get(b"Subtype").ok()?.as_name().ok()? != b"Form" {
        return None;
    }
    let content =
        stream.decompressed_content_with_limit(MAX_CONTENT_BYTES).unwrap_or_else(|_| stream.content.clone());
    let own =
        stream.dict.get(b"Resources").ok().and_then(|r| resolve(document, r)).and_then(|r| r.as_dict().ok());
    let mut matrix = IDENTITY;
    if let Some(array) =
        stream.dict.get(b"Matrix").ok().and_then(|m| resolve(document, m)).and_then(|m| m.as_array().ok())
    {
        for (slot, value) in matrix.iter_mut().zip(array) {
            *slot = value.as_float().unwrap_or(*slot);
        }
    }
    Some((content, own, matrix))
}

/// One content stream being read: the page's own or a form's.
struct ContentReader<'a> {
    tokens: ContentTokens,
    resources: Option<&'a Dictionary>,
    matrix: Matrix,
    saved: Vec<Matrix>,
    operands: Vec<f32>,
    name: Vec<u8>,
    path: Path,
}

#[derive(Default)]
struct Path {
    segments: Vec<((f32, f32), (f32, f32))>,
    rectangles: Vec<Bounds>,
    start: (f32, f32),
    current: (f32, f32),
    curved: bool,
}

impl<'a> ContentReader<'a> {
    fn new(content: Vec<u8>, resources: Option<&'a Dictionary>, matrix: Matrix) -> Self {
        Self {
            tokens: ContentTokens::new(content),
            resources,
            matrix,
            saved: Vec::new(),
            operands: Vec::new(),
            name: Vec::new(),
            path: Path::default(),
        }
    }

    /// Reads on until a form is drawn; gives its name and the matrix it is drawn with, or `None` at the end.
    fn next_form(&mut self, drawing: &mut Drawing) -> Option<(Vec<u8>, Matrix)> {
        while let Some(token) = self.tokens.next_token() {
            match token {
                Token::Number(value) => {
                    if self.operands.len() < 64 {
                        self.operands.push(value);
                    }
                }
                Token::Name(name) => self.name = name,
                Token::Text(_) => drawing.texts += 1,
                Token::Operator(operator) => {
                    if &*operator == b"Do" {
                        self.operands.clear();
                        return Some((std::mem::take(&mut self.name), self.matrix));
                    }
                    self.run_operator(&operator, drawing);
                    self.operands.clear();
                }
            }
        }
        None
    }

    fn run_operator(&mut self, operator: &[u8], drawing: &mut Drawing) {
        let n = self.operands.len();
        match operator {
            b"q" if self.saved.len() < MAX_STATES => self.saved.push(self.matrix),
            b"Q" => {
                if let Some(matrix) = self.saved.pop() {
                    self.matrix = matrix;
                }
            }
            b"cm" if n >= 6 => {
                let mut matrix = IDENTITY;
                matrix.copy_from_slice(&self.operands[n - 6..]);
                self.matrix = multiply(&matrix, &self.matrix);
            }
            b"m" if n >= 2 => {
                self.path.start = apply(&self.matrix, self.operands[n - 2], self.operands[n - 1]);
                self.path.current = self.path.start;
            }
            b"l" if n >= 2 => {
                let to = apply(&self.matrix, self.operands[n - 2], self.operands[n - 1]);
                self.path.line_to(to);
            }
            b"c" | b"v" | b"y" if n >= 2 => {
                self.path.current = apply(&self.matrix, self.operands[n - 2], self.operands[n - 1]);
                self.path.curved = true;
            }
            b"h" => {
                let start = self.path.start;
                self.path.line_to(start);
            }
            b"re" if n >= 4 => {
                let (left, bottom) = (self.operands[n - 4], self.operands[n - 3]);
                let (width, height) = (self.operands[n - 2], self.operands[n - 1]);
                let corner = apply(&self.matrix, left, bottom);
                let opposite = apply(&self.matrix, left + width, bottom + height);
                if self.path.rectangles.len() < MAX_PATHS_PER_PAGE {
                    self.path.rectangles.push(box_of(corner, opposite));
                }
                self.path.start = corner;
                self.path.current = corner;
            }
            b"S" => self.path.finish(true, false, drawing),
            b"s" | b"b" | b"b*" => {
                let start = self.path.start;
                self.path.line_to(start);
                self.path.finish(true, operator[0] == b'b', drawing);
            }
            b"f" | b"F" | b"f*" => self.path.finish(false, true, drawing),
            b"B" | b"B*" => self.path.finish(true, true, drawing),
            b"n" => self.path = Path::default(),
            b"BI" => self.tokens.skip_inline_image(),
            _ => {}
        }
    }
}

impl Path {
    fn line_to(&mut self, to: (f32, f32)) {
        if self.segments.len() < MAX_PATHS_PER_PAGE {
            self.segments.push((self.current, to));
        }
        self.current = to;
    }

    /// Takes the path into `drawing` and starts a new one.
    fn finish(&mut self, stroked: bool, filled: bool, drawing: &mut Drawing) {
        let path = std::mem::take(self);
        for rectangle in &path.rectangles {
            add_rectangle(rectangle, stroked, drawing);
        }
        if path.segments.is_empty() {
            return;
        }
        if stroked {
            for &(a, b) in &path.segments {
                add_line(a, b, drawing);
            }
        } else if filled
            && !path.curved
            && path.segments.len() <= 5
            && path.segments.iter().all(|(a, b)| is_straight(*a, *b))
        {
            let points = path.segments.iter().flat_map(|(a, b)| [*a, *b]);
            if let Some(bounds) = points.map(|p| box_of(p, p)).reduce(|a, b| a.union(&b)) {
                add_rectangle(&bounds, false, drawing);
            }
        }
    }
}

fn is_straight(a: (f32, f32), b: (f32, f32)) -> bool {
    (a.0 - b.0).abs() <= 0.5 || (a.1 - b.1).abs() <= 0.5
}

fn add_line(a: (f32, f32), b: (f32, f32), drawing: &mut Drawing) {
    let bounds = box_of(a, b);
    if bounds.height() <= 0.8 && bounds.width() >= MIN_RULE_LENGTH {
        drawing.horizontal.push(Rule { at: bounds.center_y(), start: bounds.left, end: bounds.right });
    } else if bounds.width() <= 0.8 && bounds.height() >= MIN_RULE_LENGTH {
        drawing.vertical.push(Rule { at: bounds.center_x(), start: bounds.top, end: bounds.bottom });
    }
}

fn add_rectangle(bounds: &Bounds, stroked: bool, drawing: &mut Drawing) {
    let (width, height) = (bounds.width(), bounds.height());
    if height <= MAX_RULE_THICKNESS && width >= MIN_RULE_LENGTH && width > 2.0 * height {
        drawing.horizontal.push(Rule { at: bounds.center_y(), start: bounds.left, end: bounds.right });
    } else if width <= MAX_RULE_THICKNESS && height >= MIN_RULE_LENGTH && height > 2.0 * width {
        drawing.vertical.push(Rule { at: bounds.center_x(), start: bounds.top, end: bounds.bottom });
    } else if stroked {
        for at in [bounds.top, bounds.bottom] {
            drawing.horizontal.push(Rule { at, start: bounds.left, end: bounds.right });
        }
        for at in [bounds.left, bounds.right] {
            drawing.vertical.push(Rule { at, start: bounds.top, end: bounds.bottom });
        }
    } else if width > MAX_RULE_THICKNESS && height > MAX_RULE_THICKNESS {
        drawing.filled.push(*bounds);
    }
}

fn box_of(a: (f32, f32), b: (f32, f32)) -> Bounds {
    Bounds { left: a.0.min(b.0), top: a.1.min(b.1), right: a.0.max(b.0), bottom: a.1.max(b.1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(content: &str) -> Drawing {
        let mut drawing = Drawing::default();
        let mut reader = ContentReader::new(content.as_bytes().to_vec(), None, IDENTITY);
        while reader.next_form(&mut drawing).is_some() {}
        drawing
    }

    #[test]
    fn strokes_and_thin_rectangles_are_rules() {
        let drawing = draw("0 0 m 100 0 l S 10 20 80 0.5 re f 5 0 0.4 50 re f");
        assert_eq!((drawing.horizontal.len(), drawing.vertical.len()), (2, 1));
    }

    #[test]
    fn clip_paths_and_strings_draw_nothing() {
        let drawing = draw("0 0 100 50 re W n (10 10 m 90 10 l S \\) ) Tj [(a) -20 (b)] TJ");
        assert!(drawing.horizontal.is_empty() && drawing.filled.is_empty());
    }

    #[test]
    fn matrix_is_applied_and_restored() {
        let drawing = draw("q 2 0 0 2 10 10 cm 0 0 m 50 0 l S Q 0 5 m 50 5 l S");
        assert_eq!(drawing.horizontal[0], Rule { at: 10.0, start: 10.0, end: 110.0 });
        assert_eq!(drawing.horizontal[1], Rule { at: 5.0, start: 0.0, end: 50.0 });
    }

    #[test]
    fn inline_image_data_is_stepped_over() {
        let drawing = draw("BI /W 2 /H 2 ID 0 0 m 90 0 l S EI 0 5 m 50 5 l S");
        assert_eq!(drawing.horizontal.len(), 1);
    }

    #[test]
    fn unfinished_content_ends() {
        draw("(((");
        draw("BI");
        draw("1 2 m <");
    }
}
