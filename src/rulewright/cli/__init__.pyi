from .experiment import RunOptions as RunOptions
from .experiment import perform as perform
from .experiment import print_report as print_report
from .experiment import split_names as split_names
from .options import group_options as group_options
