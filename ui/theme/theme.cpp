#include "ui/theme/theme.h"

namespace firsttoken::ui {

QRgb seriesColour(Series series) {
    switch (series) {
        case Series::Blue:
            return 0xFF0072B2;
        case Series::Orange:
            return 0xFFE69F00;
        case Series::Green:
            return 0xFF009E73;
        case Series::Vermilion:
            return 0xFFD55E00;
        case Series::Purple:
            return 0xFFCC79A7;
        case Series::Sky:
            return 0xFF56B4E9;
        case Series::Grey:
            break;
    }
    return 0xFF8C959F;
}

Series seriesOf(engine::RequestState state) {
    switch (state) {
        case engine::RequestState::Queued:
            return Series::Grey;
        case engine::RequestState::Prefilling:
            return Series::Orange;
        case engine::RequestState::Decoding:
            return Series::Blue;
        case engine::RequestState::Finished:
            break;
    }
    return Series::Grey;
}

}  // namespace firsttoken::ui
