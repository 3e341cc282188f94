use super::*;

fn like(wanted: &str, label: &str) -> f32 {
    similarity(
        &FieldName { own: NameWords::from_name(wanted), ..FieldName::default() },
        &NameWords::from_name(label),
        &NameWords::default(),
    )
}

#[test]
fn names_are_the_same_however_they_are_written() {
    for (wanted, label) in [
        ("frameMaterial", "Frame material"),
        ("highest_point", "Highest Point:"),
        ("area_km2", "Area (km²)"),
        ("e_mail", "E-mail"),
        ("délai_de_livraison", "Délai de livraison"),
        ("companies", "Company"),
        ("population", "Population (2021)"),
        ("preis", "Price"),
        ("product_name", "Title"),
    ] {
        assert!(like(wanted, label) > 0.85, "{wanted} {label} {}", like(wanted, label));
    }
}

#[test]
fn names_that_share_a_word_are_less_alike() {
    assert!(like("price", "Price before tax") < like("price", "Price"));
    assert!(like("agent_name", "Name") < 0.8 && like("agent_name", "agent-name") > 0.99);
    assert!(like("monthly_price", "price") > 0.6);
    for (wanted, label) in [
        ("height", "Weight"),
        ("won", "Lost"),
        ("count", "Number"),
        ("date", "Delivery"),
        ("author", "Authority figures"),
    ] {
        assert!(like(wanted, label) < 0.5, "{wanted} {label} {}", like(wanted, label));
    }
    assert!(like("", "Price") <= 0.0 && like("price", "") <= 0.0);
}

#[test]
fn context_tells_two_names_apart() {
    let name = FieldName {
        own: NameWords::from_name("name"),
        context: NameWords::from_name("agent"),
        ..FieldName::default()
    };
    let none = NameWords::default();
    assert!(
        similarity(&name, &NameWords::from_name("agent-name"), &none)
            > similarity(&name, &NameWords::from_name("name"), &none)
    );
    assert!(
        similarity(&name, &NameWords::from_name("name"), &NameWords::from_name("Your agent"))
            > similarity(&name, &NameWords::from_name("name"), &none)
    );
}

#[test]
fn ideographs_need_no_spaces() {
    assert!(
        like("価格", "販売価格") > 0.5 && like("価格", "産地") <= 0.0 && like("賞味期限", "賞味期限") > 0.99
    );
}
