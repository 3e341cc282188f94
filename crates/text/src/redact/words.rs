//! Word lists for names and places, written for this crate. Short on purpose: common first names of many
//! countries, common surnames, large towns, countries. Words of several parts are joined by underscores.

use std::collections::HashSet;

/// The words of a list.
pub(super) fn set(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}

/// Titles before names, as written.
pub(super) const TITLES: &str = "Mr Mrs Ms Mx Miss Dr Prof Professor Sir Dame Lady Lord Rev Reverend Capt Captain Sgt Judge Justice Senator Congressman \
    Congresswoman Herr Herrn Frau Hr Dipl Ing Monsieur Madame Mademoiselle Mme Mlle M Sr Sra Srta Señor Señora Dña Signor Signora Sig Dott Dottoressa \
    Senhor Senhora Dhr Mevr Meneer Mevrouw Pan Pani Господин Госпожа Mister";

/// Words whose label is followed by a name.
pub(super) const CUES: &[&str] = &[
    "name",
    "author",
    "contact",
    "attn",
    "attention",
    "autor",
    "autorin",
    "auteur",
    "verfasser",
    "ansprechpartner",
    "ansprechpartnerin",
    "geschäftsführer",
    "geschäftsführerin",
    "nombre",
    "nome",
    "nom",
    "inhaber",
    "inhaberin",
    "ceo",
    "founder",
    "director",
    "signed",
    "patient",
    "client",
    "customer",
    "recruiter",
    "instructor",
    "teacher",
    "manager",
    "interviewer",
    "candidate",
    "employee",
    "kontakt",
    "contacto",
    "contatto",
];

/// Words that greet.
pub(super) const GREETINGS: &[&str] = &[
    "dear", "hi", "hello", "hey", "hallo", "liebe", "lieber", "cher", "chère", "hola", "querido", "querida",
    "ciao", "caro", "cara", "olá", "beste", "thanks",
];

/// Small words inside names.
pub(super) const PARTICLES: &[&str] = &[
    "van", "von", "de", "der", "den", "del", "della", "da", "di", "la", "le", "bin", "ibn", "al", "el",
    "ter", "ten", "dos", "du", "zu", "af", "y",
];

/// First names.
pub(super) const FIRST: &str = "Aaron Abdul Abdullah Abigail Adam Adele Adrian Adriana Agnes Agnieszka Ahmed Aisha Alan Albert Alberto Alejandra Alejandro \
    Alessandra Alessandro Alex Alexander Alexandra Alexandre Alexis Alfred Ali Alice Alicia Alison Allison Amanda Amelia Amelie Amina Amir Amy Ana Anastasia \
    Anders Andrea Andreas Andrei Andrés Andrew Andrzej Angela Angelika Anita Anja Anke Ann Anna Anne Annette Annika Anthony Antje Antoine Anton Antonio \
    António Anya Ariana Arjun Arne Arthur Arturo Astrid Audrey Barbara Bartosz Beate Beatrice Beatriz Ben Benedikt Benjamin Bernard Bernd Bernhard Bettina \
    Birgit Björn Boris Brandon Brenda Brian Brigitte Bruno Camila Camille Carl Carla Carlos Carmen Carol Caroline Carolyn Catalina Catherine Cecilia Chiara \
    Chloe Christian Christina Christine Christoph Christophe Christopher Claire Clara Claudia Clemens Cristina Cynthia Damien Daniel Daniela Danielle David \
    Deborah Denis Dennis Derek Diana Diane Diego Dieter Dimitri Dirk Dmitri Dmitry Dominik Donald Donna Doris Dorothy Douglas Duncan Edgar Edith Eduardo Edward \
    Edwin Eileen Elena Eleanor Elias Elisa Elisabeth Elizabeth Ella Ellen Elsa Emilia Emilie Emily Emma Emmanuel Eric Erica Erik Erika Ernst Esther Ethan \
    Eugene Eva Evelyn Fabian Fatima Federico Felicia Felix Ferdinand Fernanda Fernando Filip Fiona Florence Florian Frances Francesca Francesco Francine \
    Francisco Franz Frederick Frida Friedrich Fritz Gabriel Gabriela Gabriele Gary Gavin Georg George Gerald Gerard Gerd Gerhard Giorgio Giovanni Gisela \
    Giulia Giuseppe Gloria Gonzalo Gordon Greg Gregory Greta Guido Guillaume Guillermo Gustav Gustavo Hannah Hannes Hans Harald Harold Harriet Hassan Heather \
    Hector Heidi Heike Heiko Heinrich Heinz Helen Helena Helga Helmut Henri Henrik Henry Herbert Hermann Hiroshi Holger Howard Hubert Hugo Ian Ibrahim Ida \
    Ignacio Igor Ilse Ines Inga Inge Ingrid Irena Irene Irina Isabel Isabella Isabelle Ivan Ivana Jacob Jacqueline Jacques Jakob Jakub Jamal James Jan Jana \
    Jane Janet Janine Jason Javier Jean Jeff Jeffrey Jennifer Jens Jeremy Jérôme Jessica Jesús Joachim Joan Joanna Joanne João Jochen Johan Johanna Johannes John \
    Jonas Jonathan Jorge Jörg José Josef Joseph Josephine Joshua Joyce Juan Juana Judith Julia Julian Juliana Julie Julien Julius Jürgen Justin Jutta Kai Karen \
    Karim Karin Karl Karla Karolina Katarina Kate Katharina Katherine Kathleen Kathrin Kathryn Katja Katrin Keith Kenji Kenneth Kerstin Kevin Khalid Kimberly \
    Kirsten Klara Klaus Konrad Krista Kristin Kristina Krzysztof Kurt Kyle Lars Larry Laura Lauren Laurence Laurent Lea Leah Leila Lena Leo Leon Leonard \
    Leonardo Leonie Leslie Liam Lidia Linda Lisa Lorenzo Louis Louise Luca Lucas Lucia Lucía Lucie Ludwig Luis Luisa Luise Lukas Luke Lydia Magda Magdalena Manfred \
    Manuel Manuela Marc Marcel Marcela Marcin Marco Marcos Marcus Margaret Margarita Maria María Mariam Marianne Marie Mariana Marina Mario Marion Marius Markus \
    Marlene Marta Martha Martin Martina Mary Mateo Mateusz Mathias Mathilde Matteo Matthew Matthias Maurice Mauricio Max Maximilian Maya Megan Mehmet Mei \
    Melanie Melissa Mercedes Mia Michael Michaela Michał Michel Michele Michelle Miguel Mikael Mikhail Mila Milan Miriam Mohamed Mohammad Mohammed Moritz Monica \
    Monika Monique Muhammad Mustafa Nadia Nadine Nancy Naomi Natalia Natalie Natasha Nathan Nathalie Nicholas Nicolas Nicole Nicola Niklas Nils Nina Noah \
    Nora Norbert Norman Olaf Oleg Olga Oliver Olivia Olivier Omar Oscar Oskar Otto Pablo Paola Paolo Pascal Patricia Patrick Paul Paula Pauline Paulo Pedro Penelope \
    Peter Petra Philip Philipp Philippe Phillip Pierre Pilar Piotr Priya Rachel Rafael Rahul Raj Rajesh Ralf Ralph Ramón Raúl Rebecca Regina Reinhard Renate René \
    Ricardo Richard Rita Robert Roberta Roberto Robin Rodrigo Roger Roland Rolf Roman Ronald Rosa Rosemary Roxana Rudolf Ruth Ryan Sabine Sabrina Salma Samantha Samir \
    Samuel Sandra Sanjay Sara Sarah Scott Sean Sebastian Sebastián Sergei Sergey Sergio Shannon Sharon Silke Silvia Simon Simone Sofia Sofía Sonja Sophia Sophie \
    Stefan Stefanie Steffen Stella Stephan Stephanie Stephen Steve Steven Stuart Susan Susanne Suzanne Sven Svenja Sylvia Takashi Tamara Tanja Tatiana Teresa \
    Theodor Theresa Thierry Thomas Thorsten Tiffany Till Tim Timo Timothy Tobias Tom Tomás Tomasz Torsten Tracy Udo Ulrich Ulrike Ursula Uwe Valentina Valeria \
    Vanessa Vera Verónica Veronika Vicente Victor Victoria Viktor Vincent Virginie Vladimir Volker Walter Wei Werner Wilhelm William Wolfgang Xavier Yasmin Yolanda \
    Yuki Yusuf Yvonne Zoe Zofia Иван Мария Анна Сергей Дмитрий Александр Ольга Елена Наталья Владимир Алексей Андрей Михаил Екатерина Татьяна Ирина Светлана Юлия \
    Николай Павел Максим Антон Виктор Игорь";

/// First names that are words, months or places too; they need a known surname after them.
pub(super) const AMBIGUOUS: &str = "Amber Angel April Art Asia Aurora August Austin Bill Bob Brooklyn Chad Charity Charles Charlotte Chase Chelsea China Chris \
    Christian Crystal Dallas Dawn Dean Destiny Drew Faith Florence Frank Georgia Ginger Grace Grant Harmony Heath Holly Hope Hunter India Iris Ivy Jack Jade Jasmine \
    Jasper Jim Joe Jordan Joy June Kim Lance Lily London Madison Mark Mason May Melody Mike Miles Nick Olive Paris Pat Pearl Penny Ray Rich Rob Rocky Rose Ruby \
    Rusty Sam Savannah Sierra Skip Summer Sue Sunny Sydney Ted Tony Trinity Tyler Victor Violet Virginia Wade Will Willow Zion";

/// Surnames.
pub(super) const SURNAMES: &str = "Adams Ahmed Alexander Ali Allen Anderson Andersson Bailey Baker Barnes Bauer Becker Bell Bennett Bernard Bianchi Brooks Brown Bryant \
    Butler Campbell Carter Castro Chan Chen Clark Cohen Coleman Collins Cook Cooper Costa Cox Cruz Davies Davis Diaz Dubois Durand Edwards Ellis Evans Fernández \
    Fernandez Ferrari Fischer Fisher Foster Fuchs Garcia García Gibson Gomez Gonzales Gonzalez González Gray Green Griffin Gupta Hall Hamilton Hansen Harris Harrison \
    Hartmann Hayes Henderson Hernandez Hernández Herrera Hill Hoffman Hoffmann Howard Huang Hughes Ito Ivanov Jackson James Jansen Jenkins Jensen Johansson Johnson \
    Jones Kaiser Kaufmann Keller Kelly Kennedy Khan Kim King Klein Koch Kowalski Krause Kumar Lange Larsen Laurent Lee Lefebvre Lehmann Lewis Li Liu Long Lopez López \
    Mancini Marshall Martin Martinez Martínez Mayer McDonald Meier Mendoza Meyer Miller Mitchell Moore Morales Moreau Moreno Morgan Morris Müller Murphy Murray Myers \
    Nakamura Nelson Neumann Nguyen Nielsen Novak Nowak Olsen Olsson Ortiz Owens Park Parker Patel Patterson Perez Pérez Perry Petersen Peterson Phillips Popov Powell Price \
    Ramirez Ramos Reed Reyes Reynolds Richardson Richter Rivera Roberts Robinson Rodriguez Rodríguez Rogers Romano Ross Rossi Russell Russo Sanchez Sánchez Sanders Santos \
    Sato Schäfer Schmid Schmidt Schmitt Schneider Scholz Schröder Schubert Schulz Schwarz Scott Sharma Silva Simmons Simon Singh Smirnov Smith Stein Stewart Sullivan Suzuki \
    Svensson Tanaka Taylor Thomas Thompson Torres Tran Turner Vargas Vogel Wagner Walker Wang Ward Washington Watson Weber Weiss Werner White Williams Wilson Winkler Wolf Wong \
    Wood Wright Wu Yamamoto Yang Young Zhang Zhou Zimmermann";

/// Words that end no name: kinds of organisations, places, streets, days, and what titles of articles are
/// made of.
pub(super) const NO_SURNAME: &str = "A About Academy After Airport All And Army Art Association At Avenue Award Awards Bank Bay Beach Before Best Board Book Books Boulevard Bridge \
    Building Business But Buy By Cafe Café Canyon Capital Care Castle Cathedral Center Centre Championship Check Church City Clinic Club College Comment Committee Community \
    Company Complete Conference Congress Corporation Council County Court Creek Cup Day Days Deal Delivery Department District Drive Edition Event Falls Farm Father Festival \
    Field Film Final Find For Forest Forum Foundation Free Friday From Fund Gallery Garden Gardens Get Gold Government Group Guide Hall Harbor Harbour Help Here High Hill Hills \
    Hospital Hotel House How If In Inc Inn Institute International Is Island Islands It Jr Junior Just Kitchen Lake Law League Library Limited List Live Loop Ltd Market Memorial \
    Menu Monday More Mountain Mountains Museum Music National Navy New News Newsletter North Not Now Of Office On Online Open Or Orchestra Order Our Out Park Party Period Philharmonic \
    Place Plan Point Police Port Post Prize Program Project Quay Read Release Report Republic Research Restaurant Review River Road Room Said Sale Saturday Says School \
    Schools Sea Season See Senior Series Service Services Set Shop Show Sign Site South Square St Staff Stadium Star State States Station Store Street Studio Sunday Support Syndrome Team \
    Tech Test The Theater Theatre This Thursday Time Times To Today Top Tower Town Trail Trophy Trust Tuesday Union United University Update Valley Version View Village Way \
    Wednesday Week What When Where Which Who Why Will Winery With Work Works World Year Years Yes You Your Zoo January February March April June July August September October November \
    December GmbH AG KG Verein Straße Platz Universität Schule Kirche Monsieur Madame Team Hello Dear Thanks Please";

/// Towns, countries and regions.
pub(super) const PLACES: &str = "Afghanistan Albania Algeria Argentina Armenia Australia Austria Azerbaijan Bangladesh Belarus Belgium Bolivia Botswana Brazil Bulgaria Cambodia Cameroon Canada \
    Chile China Colombia Croatia Cuba Cyprus Czechia Denmark Ecuador Egypt Estonia Ethiopia Finland France Germany Ghana Greece Guatemala Haiti Honduras Hungary Iceland India Indonesia Iran Iraq \
    Ireland Israel Italy Jamaica Japan Kazakhstan Kenya Kuwait Laos Latvia Lebanon Liberia Libya Lithuania Luxembourg Madagascar Malaysia Malta Mexico Moldova Mongolia Montenegro Morocco \
    Mozambique Myanmar Namibia Nepal Netherlands New_Zealand Nicaragua Nigeria North_Korea Norway Oman Pakistan Panama Paraguay Peru Philippines Poland Portugal Qatar Romania Russia Rwanda \
    Saudi_Arabia Scotland Senegal Serbia Singapore Slovakia Slovenia Somalia South_Africa South_Korea Spain Sri_Lanka Sudan Sweden Switzerland Syria Taiwan Tanzania Thailand Tunisia Uganda \
    Ukraine United_Arab_Emirates United_Kingdom United_States Uruguay Uzbekistan Venezuela Vietnam Wales Yemen Zambia Zimbabwe England USA UK Deutschland Österreich Schweiz Frankreich Italien \
    Spanien Niederlande Belgien Dänemark Schweden Norwegen Finnland Polen Tschechien Ungarn Griechenland Türkei Großbritannien Allemagne Autriche Suisse Espagne Italie Belgique Pays-Bas \
    Royaume-Uni Alemania Francia España Italia Portugal Brasil México Colombia Россия Украина Германия Франция Беларусь Казахстан Москва Санкт-Петербург Киев Минск Amsterdam Ankara Antwerp Athens \
    Atlanta Auckland Augsburg Baghdad Bangalore Bangkok Barcelona Basel Beijing Beirut Belfast Belgrade Berlin Bern Bielefeld Bilbao Birmingham Bochum Bogotá Bologna Bonn Bordeaux Boston \
    Bratislava Braunschweig Bremen Brisbane Bristol Brooklyn Brussels Bruxelles Bucharest Budapest Buenos_Aires Busan Cairo Calgary Cape_Town Caracas Casablanca Chemnitz Chengdu Chennai Chicago \
    Cincinnati Cleveland Cologne Copenhagen Córdoba Dakar Dallas Damascus Delhi Denver Detroit Dhaka Dortmund Dresden Dubai Dublin Duisburg Düsseldorf Edinburgh Edmonton Essen Firenze Florence \
    Frankfurt Freiburg Genève Geneva Genoa Ghent Glasgow Gothenburg Granada Graz Guadalajara Guangzhou Göteborg Göttingen Hamburg Hannover Hanoi Havana Heidelberg Helsinki Hiroshima \
    Ho_Chi_Minh_City Hong_Kong Honolulu Houston Hyderabad Innsbruck Istanbul Jakarta Jerusalem Johannesburg Kabul Karachi Karlsruhe Kassel Kathmandu Kiel Köln Kraków Kuala_Lumpur Kyiv Kyoto Köln \
    Lagos Lausanne Leeds Leipzig Lille Lima Linz Lisboa Lisbon Liverpool Ljubljana London Los_Angeles Lyon Lübeck Madrid Magdeburg Mainz Malmö Manchester Manila Mannheim Marseille Medellín Melbourne \
    Memphis Mexico_City Miami Milan Milano Minneapolis Minsk Monterrey Montevideo Montpellier Montreal Montréal Moscow Mumbai Munich München Münster Nairobi Nagoya Nantes Naples Napoli Nashville New_Delhi \
    New_Orleans New_York New_York_City Nottingham Nürnberg Oakland Osaka Oslo Ottawa Palermo Paris Perth Philadelphia Pittsburgh Porto Potsdam Poznań Prague Praha Quito Reykjavik Rennes Riga \
    Rio_de_Janeiro Riyadh Roma Rome Rostock Rotterdam Saarbrücken Sacramento Salzburg San_Antonio San_Diego San_Francisco San_José San_Jose Santiago São_Paulo Sapporo Sarajevo Seattle Seoul Sevilla \
    Seville Shanghai Sheffield Shenzhen Sofia Southampton Stockholm Strasbourg Stuttgart Sydney Taipei Tallinn Tampa Tbilisi Tehran Tel_Aviv The_Hague Thessaloniki Tokyo Torino Toronto Toulouse \
    Trieste Tripoli Tucson Tunis Turin Ulm Utrecht Valencia Vancouver Venezia Venice Vienna Vilnius Warsaw Warszawa Washington_D.C. Wellington Wien Wiesbaden Winnipeg Wrocław Wuppertal Würzburg Zagreb \
    Zaragoza Zürich Zurich Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii Idaho Illinois Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts \
    Michigan Minnesota Mississippi Missouri Montana Nebraska Nevada New_Hampshire New_Jersey New_Mexico North_Carolina North_Dakota Ohio Oklahoma Oregon Pennsylvania Rhode_Island South_Carolina \
    South_Dakota Tennessee Texas Utah Vermont West_Virginia Wisconsin Wyoming Ontario Quebec Alberta Manitoba Saskatchewan Queensland Tasmania Bavaria Bayern Sachsen Hessen Saxony Tuscany Catalonia \
    Andalusia Normandy Brittany Provence Kerala Punjab Gujarat Hokkaido Silicon_Valley";
