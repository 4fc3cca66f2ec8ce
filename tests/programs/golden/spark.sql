/* A rule model exported by rulewright for Spark SQL and Databricks. The syntax is checked with a
parser; the statement was never run on Spark. Scores equal the scores of the model if Spark reads
decimals as the nearest double; probabilities may differ in the last digits. Rules have the numbers
of the printed model; sums add them in the order of learning. Missing is NULL or NaN; an empty
string is a label. Numbers must be finite and of a numeric type: text is an error, so cast it.
Labels may be text, integers or Booleans; timestamps are read in the time zone of the session. */
WITH rw_checked_input AS (
  SELECT
    CASE WHEN TYPEOF(rw_table.`age`) = 'string' OR ABS(CAST(rw_table.`age` AS DOUBLE)) = CAST('Infinity' AS DOUBLE) THEN RAISE_ERROR(CONCAT('column "age" must hold a finite number, not ', CAST(rw_table.`age` AS STRING))) WHEN ISNAN(CAST(rw_table.`age` AS DOUBLE)) THEN NULL ELSE CAST(rw_table.`age` AS DOUBLE) END AS age,
    CAST(rw_table.`color` AS STRING) AS color,
    CASE WHEN TYPEOF(rw_table.`plan`) = 'string' THEN RAISE_ERROR(CONCAT('column "plan" must hold a finite number, not ', CAST(rw_table.`plan` AS STRING))) WHEN ISNAN(CAST(rw_table.`plan` AS DOUBLE)) THEN NULL WHEN rw_table.`plan` > 9007199254740992 OR rw_table.`plan` < -9007199254740992 THEN 1.8014398509481984e+16D ELSE CAST(rw_table.`plan` AS DOUBLE) END AS `plan`,
    CASE WHEN rw_table.`active` IS NULL THEN NULL ELSE CASE LOWER(CAST(rw_table.`active` AS STRING)) WHEN 'true' THEN 1 WHEN '1' THEN 1 WHEN 'false' THEN 0 WHEN '0' THEN 0 ELSE 2 END END AS active
  FROM `customers` AS rw_table
), rw_model AS (
  SELECT
    0.1D
    /* rule 3: points +0.400 for stay: active = true */
    + CASE WHEN active = 1 THEN 0.4D ELSE 0.0D END AS rw_score_stay,
    -0.2D
    /* rule 2: points +0.830 for churn: age <= 34 and color = red */
    + CASE WHEN age <= 34.0D AND color = 'red' THEN 0.83D ELSE 0.0D END
    /* rule 1: points +1.250 for churn: age > 60 and plan != "1" */
    + CASE WHEN age > 60.0D AND `plan` <> 1.0D THEN 1.25D ELSE 0.0D END AS rw_score_churn
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
