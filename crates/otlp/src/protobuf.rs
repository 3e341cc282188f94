//! Writing protocol buffers, as far as OTLP needs it: fields one after another into one buffer, nested messages with
//! their length in front. A field that is empty is left out, as the format wants it.

/// Wire types of the format.
const VARINT: u8 = 0;
const FIXED_64: u8 = 1;
const BYTES: u8 = 2;
const FIXED_32: u8 = 5;

/// A message that is being written.
#[derive(Debug, Default, Clone)]
pub struct Protobuf(pub Vec<u8>);

impl Protobuf {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    fn tag(&mut self, field: u32, wire: u8) {
        self.varint(u64::from((field << 3) | u32::from(wire)));
    }

    pub fn uint(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.tag(field, VARINT);
            self.varint(value);
        }
    }

    /// Also where it is zero, for values that are one of several kinds.
    pub fn int_always(&mut self, field: u32, value: i64) {
        self.tag(field, VARINT);
        self.varint(value.cast_unsigned());
    }

    pub fn bool_always(&mut self, field: u32, value: bool) {
        self.tag(field, VARINT);
        self.varint(u64::from(value));
    }

    pub fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED_64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn fixed32(&mut self, field: u32, value: u32) {
        self.tag(field, FIXED_32);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        if !value.is_empty() {
            self.tag(field, BYTES);
            self.varint(value.len() as u64);
            self.0.extend_from_slice(value);
        }
    }

    pub fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// Also where it is empty, for values that are one of several kinds.
    pub fn text_always(&mut self, field: u32, value: &str) {
        self.tag(field, BYTES);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value.as_bytes());
    }

    /// Numbers of eight bytes as one field.
    pub fn packed_fixed64(&mut self, field: u32, values: &[u64]) {
        if !values.is_empty() {
            self.tag(field, BYTES);
            self.varint(8 * values.len() as u64);
            for value in values {
                self.0.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    /// A nested message. Its length is known when it is written, so it moves by the bytes that its length takes.
    pub fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        self.tag(field, BYTES);
        let start = self.0.len();
        write(self);
        let length = self.0.len() - start;
        let mut prefix = Self(Vec::with_capacity(4));
        prefix.varint(length as u64);
        self.0.splice(start..start, prefix.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own documentation.
    #[test]
    fn writes_what_the_documentation_of_the_format_shows() {
        let mut message = Protobuf::default();
        message.uint(1, 150);
        assert_eq!(message.0, [0x08, 0x96, 0x01]);
        let mut message = Protobuf::default();
        message.text(2, "testing");
        assert_eq!(message.0, [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let mut message = Protobuf::default();
        message.message(3, |inner| inner.uint(1, 150));
        assert_eq!(message.0, [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn a_long_message_has_its_whole_length_in_front() {
        let mut message = Protobuf::default();
        message.message(1, |inner| inner.text(1, &"x".repeat(300)));
        assert_eq!(message.0[..6], [0x0a, 0xaf, 0x02, 0x0a, 0xac, 0x02]);
        assert_eq!(message.0.len(), 6 + 300);
    }
}
