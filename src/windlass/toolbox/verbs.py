"""Words in the names of tools and of their arguments, and what they say about the tool. Data for `classes`."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Verbs, and nouns used like them, of tools that look and leave everything as it is.
READING = _words(
    "analyse analyze blame browse cat check compare count crawl describe details detect diff directions "
    "discover distance echo elevation enumerate estimate examine explain explore extract fetch find forecast "
    "geocode get glob grep head health help history identify info inspect lint list locate log look lookup ls "
    "match peek ping preview profile quote quotes rank read recommend retrieve scan scrape screenshot search "
    "show snapshot stat stats status suggest summarise summarize tail timeseries trace tree validate view "
    "whoami"
)
# Nouns among them: with a text to write down they change something.
NOUNS = _words("health history info log profile quote quotes stat stats status trace tree")
# As the last word of a name without a verb: what is given.
INFORMATION = _words(
    "definition definitions details docs documentation forecast info information metadata metrics news overview "
    "price prices schema statistics stats summary version weather"
)
# Verbs whose object may look like a verb: `get_commit`.
TRANSITIVE = _words(
    "analyse analyze check compare count crawl describe diff explain extract fetch find get grep inspect "
    "list look lookup query read recommend retrieve scrape search show suggest summarise summarize validate "
    "view"
)
# Harmless, unless a database is asked.
QUERYING = _words("query")
# Languages in which nothing can be changed.
QUERY_LANGUAGES = _words("insights kql logql promql traceql")
DATABASES = _words(
    "bigquery clickhouse cypher database databases db duckdb graphql mongodb mutation mysql neo postgres "
    "snowflake sql sqlite statement table tables"
)
# Harmless, unless files or code are involved.
COMPUTING = _words(
    "calculate compute convert decode encode evaluate format hash measure normalize parse solve sum transform translate"
)
# They say nothing either way.
NEUTRAL = _words("export handle index load open perform process render resolve take use verify visit wait watch")
CHANGING = _words(
    "accept act add adjust allocate append apply approve archive assign attach authenticate authorize ban begin "
    "bind block book build buy call cancel change charge checkout chmod chown clear click clone close combine "
    "commit compile complete configure confirm control copy cp create crop decline decrease decrement delete "
    "demote deploy deposit detach disable dismiss download drag draw drop edit emulate enable enqueue eval exec "
    "execute extend fill finish flag focus follow fork generate go goto grant hover import increase increment "
    "ingest init insert install invoke join kick kill label launch leave like link lock login logout make "
    "manage mark merge migrate mkdir modify mount move mute mv navigate new order patch pause pay pin play "
    "prepend press promote provision prune pull purchase purge push put rate react rebase record redo refund "
    "register reject remove rename reopen reorder replace reply requeue rerun reschedule reset resize restart "
    "restore resume retry reverse revert revoke rm rollback rotate run save scale schedule scroll seek select "
    "set setup sign skip snooze spawn split star start stash stop store submit subscribe swap switch sync tag "
    "terminate toggle touch transfer trigger trim truncate turn type unarchive unassign unblock undo unfollow "
    "uninstall unlike unlink unlock unmount unpin unregister unstar unsubscribe unwatch update upgrade upload "
    "upsert vacuum vote withdraw write"
)
# At the end of a name they count whatever stands before them: `search_replace`.
CHANGING_AT_THE_END = _words(
    "add append clear create delete edit insert move pop push remove rename replace save send set update write"
)
SENDING = _words(
    "alert announce broadcast chat comment dial dm email forward invite mail message notify post publish reply "
    "request respond retweet send share sms submit text tweet"
)
# Even with a receiver among the arguments, what they do stays on the server.
KEEPING_HERE = _words("copy delete edit move remove rename write")
# Verbs that are nouns when another verb ends the name: `message_list`.
ALSO_NOUNS = _words(
    "alert block branch build call chat comment commit download email fork import index label link log mail "
    "message order pin play post process record reply request review schedule share star store tag text upload "
    "watch"
)
ALWAYS_VERBS = _words(
    "add create delete describe edit fetch find get insert list read remove retrieve search send set update write"
)
# To show one of these is to tell somebody.
NOTICES = _words("alert banner dialog message notification notifications popup toast")
# To extract these is to write files.
ARCHIVES = _words("archive audio files frames images pages tar tarball zip")
# With the name of a file they write it.
CAPTURING = _words("export info log record render screenshot snapshot trace") | {""}
# With these a destination is where a journey ends.
OF_JOURNEYS = _words("calculate compare directions distance estimate find get lookup search")
# Arguments that choose who receives.
RECEIVERS = _words(
    "assignee attendees audience bcc cc channel channels chat destination email emails guests invitees mention "
    "mentions phone receiver recipient recipients remote reviewers room subscriber subscribers to webhook"
)
# Arguments that choose which host is asked.
ADDRESSES = _words(
    "address_url callback domain endpoint host hostname href ip ip_address link links server_url uri uris url "
    "urls webhook"
)
# Optional addresses that name a thing of the service itself.
OF_THE_SERVICE = _words(
    "board dashboard event incident issue monitor org organization profile project region team ticket trace workspace"
)
# Arguments that choose what is worked on.
TARGETS = _words(
    "account branch bucket cmd code command database dest destination dir directory file files folder key "
    "output owner path paths project query repo repository script sql table target user"
)
FILES = _words("dest destination dir directory file filename files folder input output path paths")
PLACES = _words("collection cwd database db dst source src subdir table")
FILE_NAMES = _words("file file_name file_path filename filepath path")
CODE = _words("code expression function javascript js python script sql")
# Arguments with something to write down.
CONTENTS = _words("body content data entry message note status text value")
# Arguments that point at a part of a page.
ELEMENTS = _words("element ref selector target uid xpath")
# Beside an address: a request of the caller's making.
REQUEST_PARTS = _words("body content cookies data form headers json method payload upload")
# Arguments whose values may be verbs.
CHOICES = _words("action actions cmd command method mode op operation operations subcommand task type verb")
# Arguments of tools that change something.
CHANGE_ARGUMENTS = _words(
    "append autofix cmd command commit_message confirm confirmed create create_if_missing delete dest "
    "destination download_path dry_run fix force function javascript mark_as_read mark_read mutation "
    "new_content new_str new_value old_str out_path outdir outfile output_dir output_directory output_file "
    "output_folder output_path overwrite pipeline save save_path save_to script shell upsert write"
)
CHANGE_PREFIXES = _words("create delete destination download mark new output overwrite save")
