/* A rule model exported by rulewright for DuckDB. Scores equal the scores of the model to the last
bit. Rules have the numbers of the printed model; sums add them in the order of learning. Missing is
NULL or NaN; an empty string is a label. Numbers must be finite and of a numeric type: text is an
error, so cast it. Labels may be text or integers, Booleans also 1, 0 and text. */
WITH rw_checked_input AS MATERIALIZED (
  SELECT
    CASE WHEN rw_table."age" IS NULL THEN NULL WHEN typeof(rw_table."age") NOT IN ('BOOLEAN', 'FLOAT', 'DOUBLE', 'TINYINT', 'SMALLINT', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UBIGINT', 'UHUGEINT', 'INTEGER', 'UINTEGER') AND typeof(rw_table."age") NOT LIKE 'DECIMAL(%' THEN error('column "age" must hold a number, not ' || typeof(rw_table."age") || ' ' || CAST(rw_table."age" AS VARCHAR)) WHEN ISINF(CAST(rw_table."age" AS DOUBLE)) THEN error('column "age" must hold a finite number, not ' || typeof(rw_table."age") || ' ' || CAST(rw_table."age" AS VARCHAR)) ELSE NULLIF(CAST(rw_table."age" AS DOUBLE), CAST('NaN' AS FLOAT8)) END AS age,
    CASE WHEN rw_table."color" IS NULL THEN NULL WHEN typeof(rw_table."color") NOT IN ('VARCHAR', 'BOOLEAN', 'TINYINT', 'SMALLINT', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UBIGINT', 'UHUGEINT', 'INTEGER', 'UINTEGER') AND typeof(rw_table."color") NOT LIKE 'ENUM(%' THEN error('column "color" must hold text or integers, not ' || typeof(rw_table."color") || ' ' || CAST(rw_table."color" AS VARCHAR)) ELSE CAST(rw_table."color" AS VARCHAR) END COLLATE "C" AS color,
    CASE WHEN rw_table."plan" IS NULL THEN NULL WHEN typeof(rw_table."plan") NOT IN ('FLOAT', 'DOUBLE', 'TINYINT', 'SMALLINT', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UBIGINT', 'UHUGEINT', 'INTEGER', 'UINTEGER') AND typeof(rw_table."plan") NOT LIKE 'DECIMAL(%' THEN error('column "plan" must hold a number, not ' || typeof(rw_table."plan") || ' ' || CAST(rw_table."plan" AS VARCHAR)) WHEN ISNAN(CAST(rw_table."plan" AS DOUBLE)) THEN NULL WHEN typeof(rw_table."plan") NOT IN ('FLOAT', 'DOUBLE') AND (TRY_CAST(rw_table."plan" AS HUGEINT) > 9007199254740992 OR TRY_CAST(rw_table."plan" AS HUGEINT) < -9007199254740992) THEN 1.8014398509481984e+16 ELSE CAST(rw_table."plan" AS DOUBLE) END AS "plan",
    CASE WHEN typeof(rw_table."active") = 'BOOLEAN' THEN CAST(rw_table."active" AS INTEGER) ELSE CASE WHEN rw_table."active" IS NULL THEN NULL ELSE CASE LOWER(CASE WHEN rw_table."active" IS NULL THEN NULL WHEN typeof(rw_table."active") NOT IN ('VARCHAR', 'BOOLEAN', 'TINYINT', 'SMALLINT', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UBIGINT', 'UHUGEINT', 'INTEGER', 'UINTEGER') AND typeof(rw_table."active") NOT LIKE 'ENUM(%' THEN error('column "active" must hold text or integers, not ' || typeof(rw_table."active") || ' ' || CAST(rw_table."active" AS VARCHAR)) ELSE CAST(rw_table."active" AS VARCHAR) END COLLATE "C") WHEN 'true' THEN 1 WHEN '1' THEN 1 WHEN 'false' THEN 0 WHEN '0' THEN 0 ELSE 2 END END END AS active
  FROM (SELECT * FROM "customers") AS rw_table
), rw_model AS MATERIALIZED (
  SELECT
    0.1e0
    /* rule 3: points +0.400 for stay: active = true */
    + CASE WHEN active = 1 THEN 0.4e0 ELSE 0e0 END AS rw_score_stay,
    -0.2e0
    /* rule 2: points +0.830 for churn: age <= 34 and color = red */
    + CASE WHEN age <= 34e0 AND color = 'red' THEN 0.83e0 ELSE 0e0 END
    /* rule 1: points +1.250 for churn: age > 60 and plan != "1" */
    + CASE WHEN age > 60e0 AND "plan" <> 1e0 THEN 1.25e0 ELSE 0e0 END AS rw_score_churn
  FROM rw_checked_input
), rw_model_2 AS MATERIALIZED (
  SELECT
    rw_score_stay,
    rw_score_churn,
    GREATEST(rw_score_stay, rw_score_churn) AS rw_largest
  FROM rw_model
), rw_model_3 AS MATERIALIZED (
  SELECT
    rw_score_stay,
    rw_score_churn,
    rw_largest,
    EXP((rw_score_stay - rw_largest)) AS rw_odds_stay,
    EXP((rw_score_churn - rw_largest)) AS rw_odds_churn
  FROM rw_model_2
), rw_model_4 AS MATERIALIZED (
  SELECT
    rw_score_stay,
    rw_score_churn,
    rw_largest,
    rw_odds_stay,
    rw_odds_churn,
    (rw_odds_stay + rw_odds_churn) AS rw_total
  FROM rw_model_3
)
  SELECT
    rw_score_stay AS "score_stay",
    rw_score_churn AS "score_churn",
    (rw_odds_stay / rw_total) AS "probability_stay",
    (rw_odds_churn / rw_total) AS "probability_churn",
    CASE WHEN (rw_score_stay = rw_largest) THEN 'stay' WHEN (rw_score_churn = rw_largest) THEN 'churn' END AS "label"
  FROM rw_model_4
