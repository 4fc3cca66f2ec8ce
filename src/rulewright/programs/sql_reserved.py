"""Words that need quotes as names in at least one of the databases."""

from __future__ import annotations

import re

RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
abort absent account action add admin after all allow alter always analyse analyze and anti any
apply array as asc asof assert_rows_modified asymmetric at attach authorization autoincrement
backup before begin between bigint binary bit boolean both break browse bulk by call cascade case
cast char check checkpoint close cluster clustered coalesce collate collation column commit
committed compute concurrently condition conflict connect connection constraint contains
containstable continue convert create cross cube current current_catalog current_date current_role
current_schema current_time current_timestamp current_timezone current_user cursor data database
date day dbcc deallocate decimal declare default deferrable deferred define delete deny desc
describe detach disk distinct distribute distributed div do double drop dump each else end enum
errlvl escape except exclude exclusive exec execute exists exit explain extend extract fail false
fetch file fillfactor filter first float following for foreign freetext freetexttable freeze from
full function generated geography glob global goto grant group grouping groups hash having
holdlock hour identity identity_insert identitycol if ignore ilike immediate in increment index
indexed initially inner insert instead int integer intersect interval into is isnull issue join
json key kill lambda language last lateral leading left level like limit lineno load localtime
localtimestamp lookup macro map match matched materialized merge minus minute missing month
national natural new no nocheck nonclustered not nothing notnull null nullif nulls number numeric
object of off offset offsets oid on only open opendatasource openquery openrowset openxml option
or order organization others outer over overlaps partition percent pivot pivot_longer pivot_wider
placing plan pragma preceding precision primary print proc procedure proto public qualify query
raise raiserror range read readtext real reconfigure recursive references regexp reindex release
rename repeatable replace replication respect restore restrict return returning revert revoke
right rlike rollback row row_number rowcount rowguidcol rowid rows rule sample save savepoint
schema second securityaudit select semantickeyphrasetable semanticsimilaritydetailstable
semanticsimilaritytable semi session_user set setuser show shutdown similar smallint some sort sql
start statistics string struct summarize symmetric system_user table tablesample temp temporary
text textsize then ties time timestamp to top trailing tran transaction treat trigger true
truncate try_cast try_convert tsequal type unbounded union unique unknown unnest unpivot
unresolved update updatetext use user user_id using uuid vacuum value values varchar variadic
variant varying verbose view virtual waitfor when whenever where while window with within without
writetext year
""",
    )
)
