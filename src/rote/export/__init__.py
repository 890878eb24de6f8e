"""Models in other people's formats, with a certificate made in the library that will run them."""

from rote.export import targets as targets
from rote.export.as_format import FormatRecall as FormatRecall
from rote.export.as_format import recall_as as recall_as
from rote.export.certificate import RuntimeCertificate as RuntimeCertificate
from rote.export.export import Exported as Exported
from rote.export.export import export_model as export_model
from rote.export.facts_task import ExportedTask as ExportedTask
from rote.export.facts_task import export_task as export_task
from rote.export.target import TARGETS as TARGETS
from rote.export.verify import verify_export as verify_export
