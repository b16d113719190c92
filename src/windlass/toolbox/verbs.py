"""Words in the names of tools and of their arguments, and what they say about the tool. Data for `classes`."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Verbs of tools that look and leave everything as it is.
READING = _words(
    "analyse analyze ask blame browse cat check compare count crawl describe detect diff directions discover "
    "distance echo elevation enumerate estimate examine explain explore extract fetch find forecast geocode get "
    "glob grep head health help history identify info inspect lint list locate log look lookup ls match peek ping "
    "preview profile quote quotes rank read recommend resolve retrieve reverse scan scrape screenshot search show "
    "snapshot stat stats status suggest summarise summarize tail timeseries trace tree validate verify view "
    "visit whoami"
)
# Harmless, unless a database is asked.
QUERYING = _words("query select")
# Harmless, unless files are involved.
COMPUTING = _words(
    "calculate compute convert decode encode evaluate format hash measure normalize parse solve sum transform translate"
)
CHANGING = _words(
    "accept act add adjust allocate append apply approve archive assign attach authenticate authorize ban begin "
    "bind block book build buy call cancel change charge checkout chmod chown clear click clone close combine "
    "commit compile complete configure confirm control copy cp create crop decline decrease decrement delete "
    "demote deploy deposit detach disable dismiss download drag draw drop edit emulate enable enqueue eval exec "
    "execute extend fill finish flag follow fork generate go goto grant handle hover import increase increment "
    "index ingest init insert install invoke join kick kill label launch leave like link lock login logout make "
    "manage mark merge migrate mkdir modify mount move mute mv navigate new open order patch pause pay perform "
    "pin play prepend press process promote provision prune pull purchase purge push put rate react rebase record "
    "redo refund register reject remove rename render reopen reorder replace reply requeue rerun reschedule reset "
    "resize resolve restart restore resume retry revert revoke rm rollback rotate run save scale schedule scroll "
    "seek set setup sign skip snooze spawn split star start stash stop store submit subscribe swap switch sync "
    "tag take terminate toggle touch transfer trigger trim truncate turn type unarchive unassign unblock undo "
    "unfollow uninstall unlike unlink unlock unmount unpin unregister unstar unsubscribe unwatch update upgrade "
    "upload upsert use vacuum vote wait watch withdraw write"
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
# `git_log` reads, `log_event` does not.
NOUNS_AT_THE_END = _words("history log status")
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
# Arguments that choose what is worked on.
TARGETS = _words(
    "account branch bucket cmd code command database dest destination dir directory file files folder key output "
    "owner path paths project query repo repository script sql table target user"
)
FILES = _words("dest destination dir directory file filename files folder input output path paths")
# Beside an address: a request of the caller's making.
REQUEST_PARTS = _words("body content cookies data form headers json method payload upload")
# Arguments whose values may be verbs.
CHOICES = _words("action actions cmd command method mode op operation operations subcommand task type verb")
# Arguments that only tools have which change something.
CHANGE_ARGUMENTS = _words(
    "append cmd command commit_message confirm confirmed create create_if_missing delete dest destination "
    "download_path dry_run force javascript mark_as_read mark_read mutation new_content new_str new_value old_str "
    "outfile output_dir output_directory output_file output_path overwrite save save_path save_to script shell "
    "unread_only_mark upsert write"
)
CHANGE_PREFIXES = _words("create delete destination download mark new output overwrite save")
DATABASES = _words(
    "bigquery clickhouse cypher database db duckdb mongodb mysql neo postgres snowflake sql sqlite table"
)
