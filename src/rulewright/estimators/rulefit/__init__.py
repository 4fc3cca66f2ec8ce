"""Rule ensembles: rules of many small trees and linear terms, weighted by an L1 penalty."""
