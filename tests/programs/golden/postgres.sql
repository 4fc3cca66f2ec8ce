/* A rule model exported by rulewright for PostgreSQL. Scores equal the scores of the model to the
last bit. Rules have the numbers of the printed model; sums add them in the order of learning.
Missing is NULL or NaN; an empty string is a label. Numbers must be finite and of a numeric type:
text is an error, so cast it. Labels may be text or integers, Booleans also 1, 0 and text. */
WITH rw_checked_input AS MATERIALIZED (
  SELECT
    CASE WHEN ABS(CAST(0 + "age" AS FLOAT8)) = CAST('Infinity' AS FLOAT8) THEN CAST('column "age" must hold a finite number, not ' || CAST("age" AS TEXT) AS FLOAT8) ELSE NULLIF(CAST(0 + "age" AS FLOAT8), CAST('NaN' AS FLOAT8)) END AS age,
    CASE WHEN CAST(pg_typeof("color") AS TEXT) IN ('real', 'double precision', 'numeric', 'money', 'date', 'interval') OR CAST(pg_typeof("color") AS TEXT) LIKE 'time%' THEN CAST(CAST('column "color" must hold text or integers, not ' || CAST("color" AS TEXT) AS FLOAT8) AS TEXT) ELSE CAST("color" AS TEXT) END COLLATE "C" AS color,
    CASE WHEN CAST(0 + "plan" AS FLOAT8) = CAST('NaN' AS FLOAT8) THEN NULL WHEN "plan" > 9007199254740992 OR "plan" < -9007199254740992 THEN float8 '1.8014398509481984e+16' ELSE CAST(0 + "plan" AS FLOAT8) END AS "plan",
    CASE WHEN "active" IS NULL THEN NULL ELSE CASE LOWER(CASE WHEN CAST(pg_typeof("active") AS TEXT) IN ('real', 'double precision', 'numeric', 'money', 'date', 'interval') OR CAST(pg_typeof("active") AS TEXT) LIKE 'time%' THEN CAST(CAST('column "active" must hold text or integers, not ' || CAST("active" AS TEXT) AS FLOAT8) AS TEXT) ELSE CAST("active" AS TEXT) END COLLATE "C") WHEN 'true' THEN 1 WHEN '1' THEN 1 WHEN 'false' THEN 0 WHEN '0' THEN 0 ELSE 2 END END AS active
  FROM "customers" AS rw_table
), rw_model AS MATERIALIZED (
  SELECT
    float8 '0.1'
    /* rule 3: points +0.400 for stay: active = true */
    + CASE WHEN active = 1 THEN float8 '0.4' ELSE float8 '0.0' END AS rw_score_stay,
    float8 '-0.2'
    /* rule 2: points +0.830 for churn: age <= 34 and color = red */
    + CASE WHEN age <= float8 '34.0' AND color = 'red' THEN float8 '0.83' ELSE float8 '0.0' END
    /* rule 1: points +1.250 for churn: age > 60 and plan != "1" */
    + CASE WHEN age > float8 '60.0' AND "plan" <> float8 '1.0' THEN float8 '1.25' ELSE float8 '0.0' END AS rw_score_churn
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
    (CASE WHEN (rw_score_stay - rw_largest) > float8 '-708.0' THEN EXP((rw_score_stay - rw_largest)) ELSE float8 '0.0' END) AS rw_odds_stay,
    (CASE WHEN (rw_score_churn - rw_largest) > float8 '-708.0' THEN EXP((rw_score_churn - rw_largest)) ELSE float8 '0.0' END) AS rw_odds_churn
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
