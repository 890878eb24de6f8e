"""What an audit found, case by case, and the tests in which each is rejected or harmless.

A test is named by its file below tests/ and its function; behind a `#` stands the parameter that is the case, where
one function holds several.
"""

from __future__ import annotations

FOLDERS = "test_strangers_folders.py"
REJECTED = f"{FOLDERS}::test_what_is_rejected_costs_little_and_leaves_nothing"
HARMLESS = f"{FOLDERS}::test_what_is_read_does_no_harm"
DRAWN = f"{FOLDERS}::test_words_in_a_figure_are_drawn_and_nothing_else"
CODE = "export/test_strangers_exports.py::test_code_of_a_stranger_never_runs"
VERIFY = "folders/test_verify.py"
SHELF = "web/test_hostile_shelf.py"
SAFETY = "web/test_safety.py"
LEDGERS = "experiments/test_hostile_ledgers.py"
JSON = f"{LEDGERS}::test_text_that_is_no_object_of_json_is_one_message"
PAGE_LEDGERS = f"{SHELF}::test_a_damaged_ledger_is_one_message"
INTERRUPTS = "test_interrupts.py"

FOUND: dict[str, tuple[str, ...]] = {
    # Code runs on `rote verify` of an export.
    "bytecode with an unchecked hash beside an untouched source": (f"{CODE}#unchecked",),
    "bytecode with a time that matches": (f"{CODE}#by its time",),
    "bytecode in the transformerlens target": (f"{CODE}#transformerlens",),
    "bytecode in the lm-eval target": (f"{CODE}#lm-eval",),
    "auto_map in config.json": (f"{CODE}#config.json",),
    "auto_map in tokenizer_config.json": (f"{CODE}#tokenizer_config.json",),
    "auto_map that names code by an absolute path": (f"{CODE}#absolute",),
    "auto_map that names code by a relative path": (f"{CODE}#relative",),
    "auto_map that names code through a linked subfolder": (f"{CODE}#linked",),
    "auto_map in the huggingface target": (f"{CODE}#huggingface",),
    "auto_map of the model inside lm-eval's": (f"{CODE}#model/{{name}}",),
    # Active content.
    "words of a table that become a live script in an SVG figure": (DRAWN,),
    "names without quotes in commands that a report offers": (
        f"{FOLDERS}::test_commands_to_copy_are_words", "test_words.py::test_a_command_is_words",
    ),
    # Terminal escapes.
    "escapes in the vocabulary": (f"{HARMLESS}#a vocabulary that repaints a terminal",),
    "escapes in names of columns": (f"{HARMLESS}#words that repaint a terminal",),
    "escapes in the name of a source": (f"{HARMLESS}#a source that repaints a terminal",),
    "escapes in the certificate": (f"{HARMLESS}#a measure that repaints a terminal",),
    # Time and memory.
    "a specification with 2^31 layers": (f"{REJECTED}#2^31 layers",),
    "a specification with 2^31 heads": (f"{REJECTED}#2^31 heads",),
    "folders of kilobytes that unpack to gigabytes": (f"{REJECTED}#zeros of gigabytes",),
    "facts from a pipe": (f"{REJECTED}#facts from a pipe",),
    "facts from standard input": (f"{REJECTED}#facts from standard input",),
    "facts from a sparse file of 6 GB": (f"{REJECTED}#facts from a hole of 6 GB",),
    "facts from a generator of 16 million": (f"{REJECTED}#facts from a large generator",),
    "a ledger whose trials are an endless view": (
        f"{LEDGERS}::test_views_triggers_and_computed_columns_are_rejected_before_they_run",
        f"{SHELF}::test_an_endless_ledger_is_one_message",
    ),
    "no other model can be opened by the page meanwhile": (
        f"{SHELF}::test_a_bad_model_is_one_message_and_no_other_waits_for_it",
    ),
    # Tracebacks.
    "weights that are no numbers in a report": (f"{HARMLESS}#weights of nan in a report and its files",),
    "infinite weights in a report": (f"{HARMLESS}#infinite weights in a report",),
    "the largest weights in a report": (f"{HARMLESS}#the largest weights in a report",),
    "an architecture that is a list": (f"{REJECTED}#architecture that is a list",),
    "provenance that is a list": (f"{REJECTED}#provenance that is a list",),
    "provenance that is null": (f"{REJECTED}#provenance that is null",),
    "lone surrogates": (f"{REJECTED}#half a character", "test_files.py::test_json_beyond_the_limits_is_one_message"),
    "a certificate of no facts": (f"{REJECTED}#a certificate of no facts",),
    "a certificate of no parameters": (f"{REJECTED}#a certificate of no parameters",),
    "words that matplotlib reads as formulas": (DRAWN,),
    "clients that go away during an upload": (
        f"{SHELF}::test_slow_clients_do_not_keep_honest_ones_out_and_ctrl_c_ends_at_once",
    ),
    # A certificate that lies.
    "a lie about `promised`": (f"{VERIFY}::test_what_a_result_guarantees_is_recomputed",),
    "a lie about `margin_rounding`": (f"{VERIFY}::test_rounding_that_is_understated_or_overstated_is_caught",),
    # The page.
    "model files and ledgers that are links": (
        f"{SHELF}::test_links_out_of_the_folder_are_neither_listed_nor_opened",
    ),
    "a folder that is swapped for a link while it is read": (
        f"{SHELF}::test_a_folder_that_is_swapped_for_a_link_while_it_is_read_leads_nowhere_else",
        "test_files.py::test_a_folder_swapped_for_a_link_while_it_is_held_is_still_the_folder",
    ),
    "Host headers such as evil.example@localhost": (
        f"{SAFETY}::test_another_host_is_refused#evil.example@localhost",
    ),
    "an Origin of another port": (
        f"{SAFETY}::test_only_requests_of_the_page_itself_are_answered#http://localhost:8017",
    ),
    "an Origin of another scheme": (
        f"{SAFETY}::test_only_requests_of_the_page_itself_are_answered#https://localhost",
    ),
    "Sec-Fetch-Site: cross-site": (f"{SAFETY}::test_only_requests_of_the_page_itself_are_answered#cross-site",),
    "450 slow connections": (
        f"{SHELF}::test_slow_clients_do_not_keep_honest_ones_out_and_ctrl_c_ends_at_once",
    ),
    "Ctrl-C while a plan is computed or a connection is open": (
        f"{SHELF}::test_slow_clients_do_not_keep_honest_ones_out_and_ctrl_c_ends_at_once",
    ),
    # Writing through links.
    "a planted .owner.json, link or pipe": (f"{FOLDERS}::test_the_owner_of_a_run_is_not_written_through_a_link",),
    "a planted .NAME.part of a report": (f"{FOLDERS}::test_a_report_is_written_beside_what_was_planted",),
    "a planted .NAME.part of exported trials, link or pipe": (
        f"{LEDGERS}::test_trials_are_exported_beside_what_was_planted#pipe",
        "test_files.py::test_a_file_is_written_beside_what_was_planted_and_never_through_it",
    ),
    "a run that is resumed into a file elsewhere": (f"{LEDGERS}::test_a_run_is_not_resumed_into_a_file_elsewhere",),
    # Ledgers.
    "identity of another type, or no JSON": (f"{JSON}#run.identity",),
    "about of another type, or no JSON": (f"{JSON}#run.about",),
    "cells of another type, or no JSON": (f"{JSON}#cells.cell",),
    "results of another type, or no JSON": (f"{JSON}#results.result",),
    "JSON nested 100,000 deep": (f"{JSON}#deep",),
    "numbers of 10,000 digits": (f"{JSON}#digits",),
    "seeds and times of another type": (f"{LEDGERS}::test_values_of_another_type_are_one_message#seed",),
    "status 500 on the page for such ledgers": (PAGE_LEDGERS,),
    "one flipped bit": (f"{LEDGERS}::test_every_flipped_bit_is_noticed_or_harmless",),
    "a killed merge": (f"{LEDGERS}::test_a_merge_that_is_killed_leaves_nothing",),
    "a full disk in `runs export`": (f"{LEDGERS}::test_a_disk_that_takes_no_more_is_named#trials.csv",),
    "a full disk in `runs export` to Parquet": (f"{LEDGERS}::test_a_disk_that_takes_no_more_is_named#trials.parquet",),
    "a full disk in `export`": (f"{FOLDERS}::test_a_full_disk_is_named_and_no_library_is_blamed",),
    "a full disk in `families`, now `suite`": (f"{FOLDERS}::test_a_full_disk_in_a_suite_is_not_blamed_on_sizes",),
    "a clock of the year 2999": (f"{LEDGERS}::test_a_clock_of_the_year_2999_is_read",),
    # Interrupts.
    "Ctrl-C while modules are imported": (
        f"{INTERRUPTS}::test_a_signal_while_modules_are_imported_is_one_message",
        f"{INTERRUPTS}::test_a_signal_before_handlers_stand_waits_for_them",
    ),
    "`meter`, now `lm capacity`, takes long to stop": (
        f"{INTERRUPTS}::test_a_command_is_interrupted_during_its_work#lm capacity",
        f"{INTERRUPTS}::test_a_library_that_does_not_return_is_left_and_unfinished_output_is_removed",
    ),
    "an interrupt after the folder is complete": (
        f"{INTERRUPTS}::test_what_was_complete_before_the_signal_is_named",
    ),
    "too little address space": (f"{INTERRUPTS}::test_too_little_address_space_is_one_message",),
}  # fmt: skip
"""Every case of the audit, in its order."""
