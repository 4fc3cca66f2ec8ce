/* A rule model exported by rulewright for BigQuery. The syntax is checked with a parser; the
statement was never run on BigQuery. Scores equal the scores of the model if BigQuery reads decimals
as the nearest double; probabilities may differ in the last digits. Rules have the numbers of the
printed model; sums add them in the order of learning. Missing is NULL or NaN; an empty string is a
label. Numbers must be finite and of a numeric type: text is an error, so cast it. Labels must be
STRING without a collation, INT64 or BOOL, dates DATE, DATETIME or TIMESTAMP, which is read in UTC.
*/
WITH rw_checked_input AS (
  SELECT
    CASE WHEN IS_INF((0e0 + rw_table.`age`)) THEN ERROR(CONCAT('column "age" must hold a finite number, not ', CAST(rw_table.`age` AS STRING))) WHEN IS_NAN((0e0 + rw_table.`age`)) THEN NULL ELSE CAST((0e0 + rw_table.`age`) AS FLOAT64) END AS age,
    CAST(rw_table.`color` AS STRING) AS color,
    CASE WHEN IS_NAN((0e0 + rw_table.`plan`)) THEN NULL WHEN rw_table.`plan` > 9007199254740992 OR rw_table.`plan` < -9007199254740992 THEN 1.8014398509481984e+16 ELSE CAST((0e0 + rw_table.`plan`) AS FLOAT64) END AS `plan`,
    CASE WHEN rw_table.`active` IS NULL THEN NULL ELSE CASE LOWER(CAST(rw_table.`active` AS STRING)) WHEN 'true' THEN 1 WHEN '1' THEN 1 WHEN 'false' THEN 0 WHEN '0' THEN 0 ELSE 2 END END AS active
  FROM `customers` AS rw_table
), rw_model AS (
  SELECT
    0.1e0
    /* rule 3: points +0.400 for stay: active = true */
    + CASE WHEN active = 1 THEN 0.4e0 ELSE 0e0 END AS rw_score_stay,
    -0.2e0
    /* rule 2: points +0.830 for churn: age <= 34 and color = red */
    + CASE WHEN age <= 34e0 AND color = 'red' THEN 0.83e0 ELSE 0e0 END
    /* rule 1: points +1.250 for churn: age > 60 and plan != "1" */
    + CASE WHEN age > 60e0 AND `plan` <> 1e0 THEN 1.25e0 ELSE 0e0 END AS rw_score_churn
  FROM rw_checked_input
), rw_model_2 AS (
  SELECT
    rw_score_stay,
    rw_score_churn,
    GREATEST(rw_score_stay, rw_score_churn) AS rw_largest
  FROM rw_model
), rw_model_3 AS (
  SELECT
    rw_score_stay,
    rw_score_churn,
    rw_largest,
    EXP((rw_score_stay - rw_largest)) AS rw_odds_stay,
    EXP((rw_score_churn - rw_largest)) AS rw_odds_churn
  FROM rw_model_2
), rw_model_4 AS (
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
    rw_score_stay AS `score_stay`,
    rw_score_churn AS `score_churn`,
    (rw_odds_stay / rw_total) AS `probability_stay`,
    (rw_odds_churn / rw_total) AS `probability_churn`,
    CASE WHEN (rw_score_stay = rw_largest) THEN 'stay' WHEN (rw_score_churn = rw_largest) THEN 'churn' END AS `label`
  FROM rw_model_4
