//! Code in Python.

use crate::support::{Session, trial};
use code_runner::Language::Python;
use libtest_mimic::Trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("python::a_page_is_ready_and_variables_survive", page_is_ready_and_variables_survive),
        trial("python::results_outputs_and_errors", results_outputs_and_errors),
    ]
}

async fn page_is_ready_and_variables_survive() {
    let session = Session::start().await;
    let code = "await page.goto('data:text/html,<title>First</title><button>Go</button>')\n\
        title = await page.title()\ntitle";
    assert_eq!(session.result(Python, code).await, "First");
    assert_eq!(session.result(Python, "title + '!'").await, "First!");
    let code = "import re\nasync def texts():\n    return await page.get_by_role('button').all_inner_texts()\n\
        {'texts': await texts(), 'pages': len(context.pages)}";
    assert_eq!(session.result(Python, code).await, r#"{"texts": ["Go"], "pages": 1}"#);
    let code = "await page.screenshot(path='shot.png')\nimport shutil\nshutil.copy('shot.png', 'copy.png')\n\
        open('copy.png', 'rb').read(4)";
    assert_eq!(session.result(Python, code).await, "iVBORw==");
    assert_eq!(session.result(Python, "await page.close()\npage.is_closed()").await, "true");
    assert_eq!(session.result(Python, "page.url").await, "about:blank");
}

async fn results_outputs_and_errors() {
    let session = Session::start().await;
    let output = session.run(Python, "import sys\nprint('out')\nprint('err', file=sys.stderr)\n6 * 7").await;
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str(), output.result.as_str()),
        ("out\n", "err\n", "42")
    );
    assert_eq!(session.result(Python, "print('only')").await, "only");
    assert_eq!(session.result(Python, "x = 1").await, "");
    assert_eq!(session.result(Python, "b'abc'").await, "YWJj");
    assert_eq!(session.result(Python, "{1, 2}").await, "{1, 2}");
    let output = session.run(Python, "def f():\n    return 1 / 0\nf()").await;
    assert_eq!(output.exit_code, 1);
    assert!(
        output.stderr.starts_with("Traceback (most recent call last):\n  File \"<cell>\", line 3"),
        "{output:?}"
    );
    assert!(output.stderr.ends_with("ZeroDivisionError: division by zero\n"), "{output:?}");
    assert!(session.run(Python, "a b").await.stderr.contains("SyntaxError"));
    assert_eq!(session.result(Python, "x").await, "1");
    assert_eq!(session.run(Python, "raise SystemExit(5)").await.exit_code, 5);
    assert!(session.run(Python, "x").await.stderr.contains("variables of earlier calls are gone"));
}
