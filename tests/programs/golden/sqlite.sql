/* A rule model exported by rulewright for SQLite. Scores equal the scores of the model to the last
bit. Rules have the numbers of the printed model; sums add them in the order of learning. Missing is
NULL or NaN; an empty string is a label. Numbers must be finite and of a numeric type: text is an
error, so cast it. Labels may be text or integers, Booleans also 1, 0 and text. */
WITH rw_checked_input AS MATERIALIZED (
  SELECT
    CASE WHEN rw_table."age" IS NULL THEN NULL WHEN typeof(rw_table."age") IN ('integer', 'real') AND rw_table."age" - rw_table."age" = 0 THEN CAST(rw_table."age" AS REAL) ELSE json_extract('null', 'column "age" must hold a finite number, not ' || typeof(rw_table."age")) END AS age,
    CASE WHEN typeof(rw_table."color") IN ('text', 'null') THEN rw_table."color" WHEN typeof(rw_table."color") = 'integer' OR typeof(rw_table."color") = 'real' AND rw_table."color" = CAST(rw_table."color" AS INTEGER) THEN CAST(CAST(rw_table."color" AS INTEGER) AS TEXT) ELSE json_extract('null', 'column "color" must hold text or integers, not ' || typeof(rw_table."color")) END AS color,
    CASE WHEN typeof(rw_table."plan") IN ('integer', 'real', 'null') THEN rw_table."plan" ELSE json_extract('null', 'column "plan" must hold a number, not ' || typeof(rw_table."plan")) END AS "plan",
    CASE WHEN rw_table."active" IS NULL THEN NULL ELSE CASE LOWER(CASE WHEN typeof(rw_table."active") IN ('text', 'null') THEN rw_table."active" WHEN typeof(rw_table."active") = 'integer' OR typeof(rw_table."active") = 'real' AND rw_table."active" = CAST(rw_table."active" AS INTEGER) THEN CAST(CAST(rw_table."active" AS INTEGER) AS TEXT) ELSE json_extract('null', 'column "active" must hold text or integers, not ' || typeof(rw_table."active")) END) WHEN 'true' THEN 1 WHEN '1' THEN 1 WHEN 'false' THEN 0 WHEN '0' THEN 0 ELSE 2 END END AS active
  FROM "customers" AS rw_table
), rw_model AS MATERIALIZED (
  SELECT
    (3602879701896397 / 4503599627370496.0 / 8.0 /* 0.1 */)
    /* rule 3: points +0.400 for stay: active = true */
    + CASE WHEN active = 1 THEN (3602879701896397 / 4503599627370496.0 / 2.0 /* 0.4 */) ELSE 0.0 END AS rw_score_stay,
    (-3602879701896397 / 4503599627370496.0 / 4.0 /* -0.2 */)
    /* rule 2: points +0.830 for churn: age <= 34 and color = red */
    + CASE WHEN age <= 34.0 AND color = 'red' THEN (7475975381435023 / 4503599627370496.0 / 2.0 /* 0.83 */) ELSE 0.0 END
    /* rule 1: points +1.250 for churn: age > 60 and plan != "1" */
    + CASE WHEN age > 60.0 AND "plan" <> 1.0 THEN (5 / 4.0 /* 1.25 */) ELSE 0.0 END AS rw_score_churn
  FROM rw_checked_input
), rw_model_2 AS MATERIALIZED (
  SELECT
    rw_score_stay,
    rw_score_churn,
    MAX(rw_score_stay, rw_score_churn) AS rw_largest
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
